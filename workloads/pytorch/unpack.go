package pytorch

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"
)

// sources are the files of the Python package.
//
//go:embed autotune_worker/*.py
var sources embed.FS

// packageName is the Python package, and its folder.
const packageName = "autotune_worker"

// Unpack writes the Python package into a folder, which is made where it is not there, and gives
// the path of the package. It may be called again: a file that differs is replaced in one piece, so that a
// worker which starts meanwhile reads no half of it.
func Unpack(folder string) (string, error) {
	files, err := sources.ReadDir(packageName)
	if err != nil {
		return "", err
	}
	target := filepath.Join(folder, packageName)
	if err := os.MkdirAll(target, 0o777); err != nil {
		return "", err
	}
	for _, file := range files {
		content, err := sources.ReadFile(packageName + "/" + file.Name())
		if err != nil {
			return "", err
		}
		if err := write(filepath.Join(target, file.Name()), content); err != nil {
			return "", err
		}
	}
	return target, nil
}

// write makes the file at path have the content.
func write(path string, content []byte) error {
	if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, content) {
		return nil
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".unpack-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // gone already where all went well
	_, err = temporary.Write(content)
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
