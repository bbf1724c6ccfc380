// Package gorgonia is the built-in engine: it trains the models of
// workloads/model on the CPU with Gorgonia, in float32 or float64.
//
// The path of a trial:
//
//  1. The memory of the trial before is given back, and the peak counter is set back.
//  2. lower turns the model's layers into Gorgonia's nodes: forward pass, loss, gradients.
//  3. A pool of samples is made, and the weights' first values.
//  4. Each step runs its passes, which add up gradients, and then the optimizer.
//     Garbage is collected at fixed points only, so that peaks repeat.
//
// Gorgonia's tape machine runs operations in goroutines of its own. A panic there
// cannot be caught and ends the process.
package gorgonia
