//go:build !race

package study_test

// The tests run one in part of the devices: all.
const part = 1
