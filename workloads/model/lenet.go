package model

// lenetInfo is LeNet-5 (LeCun et al., "Gradient-based learning applied to document
// recognition", 1998) as it is built today: ReLU, max pooling, full connections.
// Its recipe is that of Caffe's example (examples/mnist/lenet_solver.prototxt).
func lenetInfo() Info {
	return Info{
		Name:    "lenet",
		Summary: "LeNet-5 on images of 1x28x28, 10 classes",
		Recipe:  Recipe{GlobalBatch: 64, Optimizer: "momentum", LearningRate: 0.01, WeightDecay: 5e-4},
		build:   buildLeNet,
	}
}

func buildLeNet(name string, _ values) (*Graph, error) {
	b := NewBuilder(Input{Shape: []int{1, 28, 28}})
	b.Add("conv1", Conv{Filters: 6, Kernel: 5, Stride: 1, Pad: 2, Bias: true, Init: fanInUniform(25)})
	b.Add("relu1", ReLU{})
	b.Add("pool1", MaxPool{Kernel: 2, Stride: 2})
	b.Add("conv2", Conv{Filters: 16, Kernel: 5, Stride: 1, Bias: true, Init: fanInUniform(6 * 25)})
	b.Add("relu2", ReLU{})
	b.Add("pool2", MaxPool{Kernel: 2, Stride: 2})
	b.Add("flatten", Flatten{})
	linear(b, "fc1", 120)
	b.Add("relu3", ReLU{})
	linear(b, "fc2", 84)
	b.Add("relu4", ReLU{})
	linear(b, "fc3", 10)
	return b.Graph(name, "image", lenetInfo().Recipe)
}
