//go:build !windows

package reports

import "github.com/google/renameio/v2"

// replaceFile writes a file so that a reader sees the old content or the new, never a part.
func replaceFile(path string, data []byte) error { return renameio.WriteFile(path, data, 0o644) }
