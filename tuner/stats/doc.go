// Package stats summarises and compares measurements: medians, intervals, ratios.
//
// Nothing is assumed of how the values are distributed, only that they are
// independent. Intervals have a confidence of 95% or the next larger one that the
// number of values allows. All functions leave their arguments as they are, and
// refuse values that are NaN or infinite.
package stats
