package main

import (
	"testing"
	"time"
)

func TestNewFolder(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for model, want := range map[string]string{
		"resnet20":             "autotune-runs/resnet20-20260102T150405Z",
		"torchvision:resnet50": "autotune-runs/torchvision-resnet50-20260102T150405Z",
		"../my/train.py:build": "autotune-runs/my-train.py-build-20260102T150405Z",
	} {
		if got := newFolder(model, now); got != want {
			t.Errorf("%s goes to %s, want %s", model, got, want)
		}
	}
}
