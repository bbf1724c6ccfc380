package main

// subject is a model that all finders are given. subject.py has the same models.
type subject struct {
	name  string
	title string
	flags []string // that name it to autotune
}

var subjects = []subject{
	{"resnet18", "resnet18, 3x64x64", []string{"--model", "torchvision:resnet18", "--input", "3,64,64", "--classes", "10"}},
	{"mobilenet_v3_small", "mobilenet_v3_small, 3x64x64", []string{"--model", "torchvision:mobilenet_v3_small", "--input", "3,64,64", "--classes", "10"}},
	{"vit", "ViT of 4 layers of 192, 3x32x32", []string{
		"--model", "torchvision.models:VisionTransformer", "--input", "3,32,32", "--classes", "10",
		"--set", "image_size=32", "--set", "patch_size=4", "--set", "num_layers=4", "--set", "num_heads=4",
		"--set", "hidden_dim=192", "--set", "mlp_dim=384",
	}},
}
