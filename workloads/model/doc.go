// Package model is a small layer graph, and the models that are made of it.
//
// The path of a model:
//
//  1. Resolve turns an alias such as resnet into the model that fits the device.
//  2. Build makes the Graph from the model's name and options. Every layer's
//     shape is worked out and checked as it is added.
//  3. An engine lowers the Graph: it walks Layers in order and turns each Op
//     into the operations of its own library.
//
// Shapes are those of one sample; the batch axis is left out and comes first in
// an engine. Images are channels, height, width.
//
// Weights and data are not kept here, but how to make them is: Init and
// the stream of Stream give the same numbers in every engine and language.
package model
