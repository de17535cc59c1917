package chart

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"

	"open-cluster-management.io/interlock/pkg/offline/manifest"
)

// Random is a value that differs from one rendering of a chart to the next one.
type Random struct {
	// File is the template, and Object the kind and the name of the object in it.
	File, Object string
	// Field is the path of the value.
	Field string
}

func (r Random) String() string { return fmt.Sprintf("%s: %s: %s", r.File, r.Object, r.Field) }

// IsNote reports whether the value is a label or an annotation, as charts have to restart pods. Others may be passwords or keys.
func (r Random) IsNote() bool {
	return strings.Contains(r.Field, "metadata.annotations.") || strings.Contains(r.Field, "metadata.labels.")
}

// randomValues returns the values that differ between two renderings of the same chart.
func randomValues(first, second []manifest.Object) []Random {
	var random []Random
	for i := range first {
		object := &first[i]
		name := Title(object)
		if i >= len(second) || second[i].Path != object.Path {
			return append(random, Random{object.Path, name, "the number of objects"})
		}
		for _, field := range differing("", object.Object, second[i].Object) {
			random = append(random, Random{object.Path, name, field})
		}
	}
	return random
}

// Title returns the kind and the name of an object.
func Title(object *manifest.Object) string {
	return strings.TrimSpace(object.GetKind() + " " + object.GetName())
}

// differing returns the paths of the values that differ.
func differing(path string, first, second any) []string {
	if reflect.DeepEqual(first, second) {
		return nil
	}
	var paths []string
	switch first := first.(type) {
	case map[string]any:
		other, ok := second.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(first)) {
			paths = append(paths, differing(strings.TrimPrefix(path+"."+key, "."), first[key], other[key])...)
		}
	case []any:
		other, ok := second.([]any)
		if !ok || len(other) != len(first) {
			break
		}
		for i := range first {
			paths = append(paths, differing(fmt.Sprintf("%s[%d]", path, i), first[i], other[i])...)
		}
	}
	if paths == nil {
		paths = []string{path}
	}
	return paths
}

// callsNow matches an action of a template that calls the function now.
var callsNow = regexp.MustCompile(`\{\{[^}]*\bnow\b`)

// mentionsRandom matches the names of the template functions that have another result each time.
var mentionsRandom = regexp.MustCompile(`\b(?:rand[A-Z]\w*|shuffle|uuidv4|gen[A-Z]\w*|htpasswd|bcrypt|encryptAES)\b`)

// templatesWithTime returns the templates that call the function now. Two renderings in the same second do not differ.
func templatesWithTime(loaded *chartv2.Chart) []string {
	var files []string
	for _, template := range loaded.Templates {
		if callsNow.Match(template.Data) {
			files = append(files, filepath.ToSlash(filepath.Join(loaded.Name(), template.Name)))
		}
	}
	for _, dependency := range loaded.Dependencies() {
		files = append(files, templatesWithTime(dependency)...)
	}
	return files
}

// usesRandom reports whether a file of a chart mentions a function with a random result. Values may have templates too.
func usesRandom(loaded *chartv2.Chart) bool {
	return slices.ContainsFunc(loaded.Raw, func(file *common.File) bool { return mentionsRandom.Match(file.Data) }) ||
		slices.ContainsFunc(loaded.Dependencies(), usesRandom)
}

const (
	// fewRenderings is the number of renderings of a chart without random functions.
	fewRenderings = 2
	// someRenderings find the fields with random values, once one was found.
	someRenderings = 8
	// manyRenderings find a value that is one of two, but for one chart in 2^31.
	manyRenderings = 32
)

// renderings returns how often to render a chart. It depends on the values that the renderings so far have found.
func (r *Rendered) renderings(soFar int) int {
	switch {
	case !r.usesRandom:
		return fewRenderings
	case len(r.Random) > 0 || soFar < someRenderings:
		return someRenderings
	default:
		return manyRenderings
	}
}

// addRandom adds the values that are not known yet.
func (r *Rendered) addRandom(random []Random) {
	for _, value := range random {
		if !slices.Contains(r.Random, value) {
			r.Random = append(r.Random, value)
		}
	}
}
