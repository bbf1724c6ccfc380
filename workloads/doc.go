// Package workloads knows the things that train: from a model's name and an
// engine's name it makes a harness.Workload.
//
//   - workloads/model: the layer graph and the built-in models;
//   - workloads/gorgonia: the engine that trains them on the CPU;
//   - workloads/simulated: a device with exact, seeded behaviour, with one model of its own.
//
// Resolve is the harness's side: it checks the choice before any process
// starts. Serve is the worker's side.
package workloads
