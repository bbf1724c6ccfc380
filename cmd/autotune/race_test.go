//go:build race

package main

// raceDetector says that the race detector is on: training takes many times as long.
const raceDetector = true
