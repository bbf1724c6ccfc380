package model

import "fmt"

// The residual networks are those of He et al., "Deep Residual Learning for Image
// Recognition" (arXiv 1512.03385): table 1 for ImageNet, section 4.2 for CIFAR-10,
// with the recipes of sections 3.4 and 4.2. As in torchvision, the bottleneck's
// stride is in its 3x3 convolution. Layers are named as torchvision names them.

func resnetAlias() Info {
	return Info{
		Name:    "resnet",
		Summary: "the residual network that suits the device: resnet20 on cpu, resnet50 on cuda",
		Alias:   map[string]string{"cpu": "resnet20", "cuda": "resnet50"},
	}
}

func resnet20Info() Info {
	return Info{
		Name:    "resnet20",
		Summary: "ResNet-20 for small images, projection shortcuts",
		Options: imageOptions(32, 10),
		Recipe:  Recipe{GlobalBatch: 128, Optimizer: "momentum", LearningRate: 0.1, WeightDecay: 1e-4},
		build:   buildResNet20,
	}
}

func resnet18Info() Info {
	return imageNetInfo("resnet18", "ResNet-18 for ImageNet", basicBlock, []int{2, 2, 2, 2})
}

func resnet50Info() Info {
	return imageNetInfo("resnet50", "ResNet-50 for ImageNet, bottleneck blocks", bottleneck, []int{3, 4, 6, 3})
}

func imageOptions(side, classes int) []Option {
	return []Option{
		{"image", side, 1 << 12, "height and width of an image"},
		{"classes", classes, 1 << 20, "classes to tell apart"},
	}
}

// block adds one residual block and its last ReLU.
type block func(b *Builder, name string, width, stride int)

func imageNetInfo(name, summary string, add block, blocks []int) Info {
	recipe := Recipe{GlobalBatch: 256, Optimizer: "momentum", LearningRate: 0.1, WeightDecay: 1e-4}
	return Info{
		Name:    name,
		Summary: summary,
		Options: imageOptions(224, 1000),
		Recipe:  recipe,
		build: func(name string, v values) (*Graph, error) {
			b := NewBuilder(Input{Shape: []int{3, v["image"], v["image"]}})
			convNorm(b, "conv1", "bn1", Conv{Filters: 64, Kernel: 7, Stride: 2, Pad: 3})
			b.Add("relu", ReLU{})
			b.Add("maxpool", MaxPool{Kernel: 3, Stride: 2, Pad: 1})
			stages(b, add, 64, blocks)
			return classifier(b, name, v["classes"], recipe)
		},
	}
}

func buildResNet20(name string, v values) (*Graph, error) {
	b := NewBuilder(Input{Shape: []int{3, v["image"], v["image"]}})
	convNorm(b, "conv1", "bn1", Conv{Filters: 16, Kernel: 3, Stride: 1, Pad: 1})
	b.Add("relu", ReLU{})
	stages(b, basicBlock, 16, []int{3, 3, 3})
	return classifier(b, name, v["classes"], resnet20Info().Recipe)
}

// stages adds the residual blocks: each stage after the first halves the image
// and doubles the width.
func stages(b *Builder, add block, width int, blocks []int) {
	for i, n := range blocks {
		for j := range n {
			stride := 1
			if i > 0 && j == 0 {
				stride = 2
			}
			add(b, fmt.Sprintf("layer%d.%d", i+1, j), width<<i, stride)
		}
	}
}

func classifier(b *Builder, name string, classes int, recipe Recipe) (*Graph, error) {
	b.Add("avgpool", GlobalAveragePool{})
	linear(b, "fc", classes)
	return b.Graph(name, "image", recipe)
}

func basicBlock(b *Builder, name string, width, stride int) {
	in := b.Last()
	convNorm(b, name+".conv1", name+".bn1", Conv{Filters: width, Kernel: 3, Stride: stride, Pad: 1})
	b.Add(name+".relu1", ReLU{})
	out := convNorm(b, name+".conv2", name+".bn2", Conv{Filters: width, Kernel: 3, Stride: 1, Pad: 1})
	join(b, name, in, out, width, stride)
}

// expansion is how much wider a bottleneck's output is than its middle.
const expansion = 4

func bottleneck(b *Builder, name string, width, stride int) {
	in := b.Last()
	convNorm(b, name+".conv1", name+".bn1", Conv{Filters: width, Kernel: 1, Stride: 1})
	b.Add(name+".relu1", ReLU{})
	convNorm(b, name+".conv2", name+".bn2", Conv{Filters: width, Kernel: 3, Stride: stride, Pad: 1})
	b.Add(name+".relu2", ReLU{})
	out := convNorm(b, name+".conv3", name+".bn3", Conv{Filters: expansion * width, Kernel: 1, Stride: 1})
	join(b, name, in, out, expansion*width, stride)
}

// join adds a block's input to its output, projected where the shapes differ.
func join(b *Builder, name string, in, out *Layer, width, stride int) {
	if b.err == nil && (stride != 1 || in.Shape[0] != width) {
		in = convNorm(b, name+".downsample.0", name+".downsample.1", Conv{Filters: width, Kernel: 1, Stride: stride}, in)
	}
	b.Add(name+".add", Add{}, out, in)
	b.Add(name+".relu", ReLU{})
}

// convNorm adds a convolution without bias and its batch normalisation.
func convNorm(b *Builder, conv, norm string, op Conv, in ...*Layer) *Layer {
	op.Init = heNormal(op.Filters * op.Kernel * op.Kernel)
	b.Add(conv, op, in...)
	return b.Add(norm, BatchNorm{Epsilon: 1e-5, Momentum: 0.1})
}
