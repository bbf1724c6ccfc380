// Package study runs the search on simulated devices and recorded surfaces, beside
// other strategies, and sums up what each came to. scripts/search-study writes its
// tables; its tests hold the search to its goals.
package study
