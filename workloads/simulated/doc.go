// Package simulated is a training device with exact, seeded behaviour, for
// tests, demonstrations and the study of search strategies. It trains nothing.
//
// A Device is drawn from a seed: how its memory and its speed depend on the
// micro-batch, the accumulation steps and the precision. It answers in two ways:
//
//   - exactly and without noise (Peak, Border, StepSeconds, Throughput), which is
//     what a search strategy is judged by;
//   - as a trial would (Run), with noise and failures, which is all that a
//     strategy may see.
//
// The noise of a trial is drawn from the device's seed, the configuration and
// the trial's number, and from nothing else, so that a resumed run sees what the
// first one would have seen.
//
// NewEngine serves a device over the worker protocol. It does not compute and
// does not sleep: the seconds it reports are simulated (see the option "pace").
package simulated
