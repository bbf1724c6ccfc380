package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/pflag"

	"autotune/workloads/nearest"
)

// notInFile are the flags that a YAML file cannot give.
var notInFile = []string{"config", "help"}

// applyConfig sets the flags that the YAML file at path names and that were
// not given on the command line. Its keys are the flags' names. A list stands
// for values with commas between them; `set` is a mapping, of which a key given
// on the command line wins alone. Errors name the file and the line.
func applyConfig(path string, flags *pflag.FlagSet) error {
	content, err := readConfig(path)
	if err != nil {
		return usagef("--config: %v; give the path of a YAML file", err)
	}
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		return yamlError(path, err)
	}
	if len(file.Docs) > 1 {
		return usagef("%s holds %d YAML documents; keep one", path, len(file.Docs))
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil || file.Docs[0].Body.Type() == ast.NullType {
		return nil
	}
	entries, err := mapping(file.Docs[0].Body)
	if err != nil {
		return usagef("%s:%d: %v", path, line(file.Docs[0].Body), err)
	}
	for _, entry := range entries {
		if err := applyEntry(flags, entry); err != nil {
			return usagef("%s:%d: %v", path, line(entry.Key), err)
		}
	}
	return nil
}

// mostConfig is the longest file of settings, in bytes.
const mostConfig = 1 << 20

// readConfig is the content of a file of settings, without a byte order mark.
func readConfig(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, mostConfig+1))
	if err == nil && len(content) > mostConfig {
		err = fmt.Errorf("%s is longer than %d bytes", path, mostConfig)
	}
	return bytes.TrimPrefix(content, []byte("\ufeff")), err
}

// applyEntry sets the flag that one entry of the file names.
func applyEntry(flags *pflag.FlagSet, entry *ast.MappingValueNode) error {
	key := scalarText(entry.Key)
	known := slices.DeleteFunc(flagNames(flags), func(name string) bool { return slices.Contains(notInFile, name) })
	if !slices.Contains(known, key) {
		return fmt.Errorf("unknown key %q; keys are the names of the flags, which --help lists%s", key, nearest.Question(key, known, ""))
	}
	flag := flags.Lookup(key)
	if key == "set" {
		return applyOptions(flag.Value.(options), entry.Value)
	}
	if flag.Changed {
		return nil
	}
	value, err := valueText(entry.Value)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if err := flag.Value.Set(value); err != nil {
		return fmt.Errorf("%s: %s: %w", key, shellWord(value), plainError(flag, err))
	}
	return nil
}

// applyOptions sets a model's options that the command line did not give.
func applyOptions(o options, node ast.Node) error {
	entries, err := mapping(node)
	if err != nil {
		return fmt.Errorf("set: %w", err)
	}
	given := maps.Clone(*o.value)
	for _, entry := range entries {
		key := scalarText(entry.Key)
		value, err := valueText(entry.Value)
		if err != nil {
			return fmt.Errorf("set: %s: %w", key, err)
		}
		if _, wins := given[key]; wins {
			continue
		}
		if err := o.Set(key + "=" + value); err != nil {
			return fmt.Errorf("set: %w", err)
		}
	}
	return nil
}

// mapping gives the entries of a node that must be a mapping.
func mapping(node ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, errors.New("not a mapping; write KEY: VALUE, such as model: mlp")
}

// valueText is a value as it would be written on the command line.
func valueText(node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.NullNode:
		return "", errEmpty
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "", errNoPlain
	case *ast.SequenceNode:
		var list []string
		for _, value := range n.Values {
			if _, list := value.(*ast.SequenceNode); list {
				return "", errors.New("a list holds plain values only")
			}
			text, err := valueText(value)
			if err != nil {
				return "", err
			}
			list = append(list, text)
		}
		return strings.Join(list, ","), nil
	case ast.ScalarNode:
		return scalarText(n), nil
	}
	return "", errors.New("neither a plain value nor a list of them")
}

// errNoPlain is why a value that YAML gives a meaning of its own is refused.
var errNoPlain = errors.New("anchors, aliases and tags are not read; write the plain value")

// scalarText is a plain value as it was written, without quotes; of a block its
// text, without the line's end.
func scalarText(node ast.Node) string {
	if block, ok := node.(*ast.LiteralNode); ok {
		return strings.TrimSpace(block.Value.Value)
	}
	return node.GetToken().Value
}

// line is the line of the file that a node begins in, from 1.
func line(node ast.Node) int { return node.GetToken().Position.Line }

// yamlError names file, line and column of broken YAML.
func yamlError(path string, err error) error {
	var broken yaml.Error
	if errors.As(err, &broken) && broken.GetToken() != nil {
		at := broken.GetToken().Position
		return usagef("%s:%d:%d: broken YAML: %s", path, at.Line, at.Column, broken.GetMessage())
	}
	return usagef("%s: broken YAML: %v", path, err)
}
