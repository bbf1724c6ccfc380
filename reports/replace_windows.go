package reports

import (
	"os"
	"path/filepath"
)

// replaceFile writes a file beside the old one and renames it over that: the
// nearest to an atomic replacement that Windows offers.
func replaceFile(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".replace-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // fails, as it should, once the file is renamed
	_, err = temporary.Write(data)
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
