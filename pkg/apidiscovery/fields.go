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

// openAPI is the path of the index of all OpenAPI v3 documents. Each has the schemas of one
// version of a group.
const openAPI = "/openapi/v3"

// Schemas are what is known of the schemas of a group. Each kind in them has a version.
type Schemas struct {
	// Fields has for each field that was looked up whether the schema has it.
	Fields map[Kind]map[string]bool
	// Failures has why the schema of a kind is not known.
	Failures map[Kind]string
	// Hashes are those of the documents that were read, by version.
	Hashes map[string]string
}

// lookUp looks up fields in the schemas of the versions that serve their kinds. It reads no
// document whose hash is the same as before. An error says that the API server itself did not
// respond.
func (g *Group) lookUp(ctx context.Context, api API, group string, fields Fields, before Schemas) error {
	wanted := g.served(fields)
	if len(wanted) == 0 {
		return nil
	}
	index := &handler3.OpenAPIV3Discovery{}
	unread, err := api.explained(openAPI, read(ctx, api.REST, openAPI, index))
	if err != nil {
		return err
	}
	g.Schemas = Schemas{Hashes: map[string]string{}, Fields: map[Kind]map[string]bool{}, Failures: map[Kind]string{}}
	for _, version := range slices.Sorted(maps.Keys(wanted)) {
		kinds := wanted[version]
		document, published := index.Paths[strings.TrimPrefix(path(group, version), "/")]
		hash := document.ServerRelativeURL
		switch {
		case unread != "":
			g.Schemas.fail(version, kinds, unread)
		case !published:
			g.Schemas.fail(version, kinds, notPublished)
		case before.Hashes[version] == hash && before.know(version, kinds):
			g.Schemas.keep(before, version, kinds)
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

// notPublished is why the schema of a kind is not known that is served. A new definition is
// served a moment before its schema is.
const notPublished = "the API server does not publish its schema"

// served returns the fields to look up in each version, by kind.
func (g *Group) served(fields Fields) map[string]map[string][]string {
	wanted := map[string]map[string][]string{}
	for kind, paths := range fields {
		for _, version := range g.Kinds[kind.Kind] {
			if kind.Version != "" && kind.Version != version {
				continue
			}
			if wanted[version] == nil {
				wanted[version] = map[string][]string{}
			}
			wanted[version][kind.Kind] = append(wanted[version][kind.Kind], paths...)
		}
	}
	return wanted
}

// read reads the document of a version, and looks up the fields of its kinds. An error says
// that the API server itself did not respond.
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
			s.Fields[key][field] = document.has(schema, field)
		}
	}
	return nil
}

func (s *Schemas) fail(version string, kinds map[string][]string, cause string) {
	for kind := range kinds {
		s.Failures[Kind{version, kind}] = cause
	}
}

// know reports whether all of the fields of a version were looked up.
func (s *Schemas) know(version string, kinds map[string][]string) bool {
	for kind, paths := range kinds {
		known := s.Fields[Kind{version, kind}]
		if slices.ContainsFunc(paths, func(path string) bool { _, lookedUp := known[path]; return !lookedUp }) {
			return false
		}
	}
	return true
}

// keep keeps what is known of a version.
func (s *Schemas) keep(before Schemas, version string, kinds map[string][]string) {
	for kind := range kinds {
		key := Kind{version, kind}
		s.Fields[key] = before.Fields[key]
	}
}

// explained returns why a document could not be read; see causeOf.
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

// read reads a document that is no API object.
func read(ctx context.Context, api rest.Interface, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	raw, err := api.Get().AbsPath(path).SetHeader("Accept", "application/json").MaxRetries(0).Do(ctx).Raw()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
