//go:build race

package study_test

// The tests run one in part of the devices: under the race detector a
// tenth, which is too few to judge shares and medians by.
const part = 10
