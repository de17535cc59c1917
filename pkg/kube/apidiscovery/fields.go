package apidiscovery

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/handler3"
)

// Kind is a kind of a group in one version, or in any if there is no version.
type Kind struct{ Version, Kind string }

// Fields are the paths of the fields to look up in the schemas of a group, by kind.
type Fields map[Kind][]string

// openAPI is the path of the index of all OpenAPI v3 documents. Each document has the schemas
// of a version of a group.
const openAPI = "/openapi/v3"

// Schemas has the results of looking up fields in the schemas of a group. Each kind in them
// has a version.
type Schemas struct {
	// Fields maps each field that was looked up to whether the schema has it.
	Fields map[Kind]map[string]bool
	// Failures maps a kind whose schema could not be read to the cause.
	Failures map[Kind]string
	// Hashes has the hashes of the documents that were read, by version.
	Hashes map[string]string
}

// lookUp looks up fields in the schemas of the versions that serve their kinds. It does not
// read a document again whose hash is the same as in previous. It returns an error if the API
// server itself did not respond.
func (g *Group) lookUp(ctx context.Context, api API, group string, fields Fields, previous Schemas) error {
	requested := g.served(fields)
	if len(requested) == 0 {
		return nil
	}
	index := &handler3.OpenAPIV3Discovery{}
	unread, err := api.explained(openAPI, read(ctx, api.REST, openAPI, index))
	if err != nil {
		return err
	}
	g.Schemas = Schemas{Hashes: map[string]string{}, Fields: map[Kind]map[string]bool{}, Failures: map[Kind]string{}}
	for _, version := range slices.Sorted(maps.Keys(requested)) {
		kinds := requested[version]
		document, published := index.Paths[strings.TrimPrefix(path(group, version), "/")]
		hash := document.ServerRelativeURL
		switch {
		case unread != "":
			g.Schemas.fail(version, kinds, unread)
		case !published:
			g.Schemas.fail(version, kinds, notPublished)
		case previous.Hashes[version] == hash && previous.covers(version, kinds):
			g.Schemas.keep(previous, version, kinds)
			g.Schemas.Hashes[version] = hash
		default:
			if err := g.Schemas.read(ctx, api, metav1.GroupVersion{Group: group, Version: version}, kinds); err != nil {
				return err
			}
			g.Schemas.Hashes[version] = hash
		}
	}
	return nil
}

// notPublished is the cause if a kind is served but its schema is not. The API server serves
// a new definition a moment before its schema.
const notPublished = "the API server does not publish its schema"

// served returns the fields to look up, by version and kind.
func (g *Group) served(fields Fields) map[string]map[string][]string {
	requested := map[string]map[string][]string{}
	for kind, paths := range fields {
		for _, version := range g.Kinds[kind.Kind] {
			if kind.Version != "" && kind.Version != version {
				continue
			}
			if requested[version] == nil {
				requested[version] = map[string][]string{}
			}
			requested[version][kind.Kind] = append(requested[version][kind.Kind], paths...)
		}
	}
	return requested
}

// read reads the document of a version, and looks up the fields of its kinds. It returns an
// error if the API server itself did not respond.
func (s *Schemas) read(ctx context.Context, api API, version metav1.GroupVersion, kinds map[string][]string) error {
	document, location := &document{}, openAPI+path(version.Group, version.Version)
	unread, err := api.explained(location, read(ctx, api.REST, location, document))
	if err != nil {
		return err
	}
	if unread != "" {
		s.fail(version.Version, kinds, unread)
		return nil
	}
	for kind, paths := range kinds {
		key := Kind{version.Version, kind}
		schema := document.schemaOf(metav1.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: kind})
		if schema == nil {
			s.Failures[key] = notPublished
			continue
		}
		s.Fields[key] = make(map[string]bool, len(paths))
		for _, field := range paths {
			s.Fields[key][field] = document.hasField(schema, field)
		}
	}
	return nil
}

func (s *Schemas) fail(version string, kinds map[string][]string, cause string) {
	for kind := range kinds {
		s.Failures[Kind{version, kind}] = cause
	}
}

// covers reports whether all these fields of a version were looked up.
func (s *Schemas) covers(version string, kinds map[string][]string) bool {
	for kind, paths := range kinds {
		fields := s.Fields[Kind{version, kind}]
		if slices.ContainsFunc(paths, func(path string) bool { _, lookedUp := fields[path]; return !lookedUp }) {
			return false
		}
	}
	return true
}

// keep copies the previous results for a version.
func (s *Schemas) keep(previous Schemas, version string, kinds map[string][]string) {
	for kind := range kinds {
		key := Kind{version, kind}
		s.Fields[key] = previous.Fields[key]
	}
}

// explained returns the cause for a document that could not be read. See causeOf.
func (a API) explained(path string, err error) (string, error) {
	switch {
	case apierrors.IsNotFound(err):
		return notPublished, nil
	case apierrors.IsForbidden(err):
		return a.Client + " may not read " + path, nil
	default:
		return causeOf(err)
	}
}

// read reads a document that is not an API object.
func read(ctx context.Context, api rest.Interface, path string, target any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	raw, err := api.Get().AbsPath(path).SetHeader("Accept", "application/json").MaxRetries(0).Do(ctx).Raw()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, target)
}
