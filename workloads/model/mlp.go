package model

// mlpInfo is the network of PyTorch's quickstart tutorial, with its batch of 64 and
// plain SGD (pytorch.org/tutorials/beginner/basics/quickstart_tutorial.html).
func mlpInfo() Info {
	return Info{
		Name:    "mlp",
		Summary: "two hidden layers on images of 1x28x28, 10 classes",
		Options: []Option{{"width", 512, 1 << 16, "units of each hidden layer"}},
		Recipe:  Recipe{GlobalBatch: 64, Optimizer: "sgd", LearningRate: 0.05},
		build:   buildMLP,
	}
}

func buildMLP(name string, v values) (*Graph, error) {
	b := NewBuilder(Input{Shape: []int{1, 28, 28}})
	b.Add("flatten", Flatten{})
	linear(b, "fc1", v["width"])
	b.Add("relu1", ReLU{})
	linear(b, "fc2", v["width"])
	b.Add("relu2", ReLU{})
	linear(b, "fc3", 10)
	return b.Graph(name, "image", mlpInfo().Recipe)
}

// linear adds a linear layer with bias.
func linear(b *Builder, name string, out int) *Layer {
	return b.Add(name, Linear{Out: out, Bias: true, Init: fanInUniform(size(b.Last().Shape))})
}
