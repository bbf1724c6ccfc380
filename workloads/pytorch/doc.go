// Package pytorch trains with PyTorch: it finds a Python interpreter with torch,
// asks it what it can do, and describes the worker that the harness starts.
//
// The worker is the Python package autotune_worker of this folder, carried inside
// the binary. It needs torch, from 1.13 on, and nothing else.
package pytorch

// Engine is the engine's name.
const Engine = "pytorch"

// Knobs are the names of the knobs that the engine has.
func Knobs() []string { return []string{"checkpointing", "compile", "expandable"} }
