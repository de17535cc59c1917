package apidiscovery

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/handler3"
)

const rolesPath = openAPI + "/apis/a.io/v1"

var roleV1 = Kind{Version: "v1", Kind: "Role"}

// publish publishes OpenAPI documents in the index, with these hashes by path.
func (s *apiServer) publish(hashes map[string]string) {
	index := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	for path, hash := range hashes {
		index.Paths[path] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: openAPI + "/" + path + "?hash=" + hash}
	}
	s.set(openAPI, index)
}

func TestLookUp(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	published := map[string]string{"apis/a.io/v1": "1"}
	roleFields := Fields{{Kind: "Role"}: {"spec.name", "spec.new"}}
	for _, test := range []struct {
		name      string
		fields    Fields
		published map[string]string
		documents map[string]any
		previous  Schemas
		want      Schemas
		fails     bool
		requests  map[string]int
	}{
		{name: "no fields are requested", published: published, requests: map[string]int{openAPI: 0}},
		{
			name: "a version that is not served", fields: Fields{{Version: "v9", Kind: "Role"}: {"spec"}}, published: published,
			requests: map[string]int{openAPI: 0},
		},
		{
			name: "fields of any version, and of a single version", published: published,
			fields:    Fields{{Kind: "Role"}: {"spec.name"}, {Version: "v1", Kind: "Role"}: {"spec.new"}},
			documents: map[string]any{rolesPath: json.RawMessage(roles)},
			want: Schemas{
				Fields: map[Kind]map[string]bool{roleV1: {"spec.name": true, "spec.new": false}}, Failures: map[Kind]string{},
				Hashes: map[string]string{"v1": rolesPath + "?hash=1"},
			},
		},
		{
			name: "a document that has not changed", fields: roleFields, published: published,
			previous: Schemas{
				Fields: map[Kind]map[string]bool{roleV1: {"spec.name": true, "spec.new": true}}, Hashes: map[string]string{"v1": rolesPath + "?hash=1"},
			},
			want: Schemas{
				Fields: map[Kind]map[string]bool{roleV1: {"spec.name": true, "spec.new": true}}, Failures: map[Kind]string{},
				Hashes: map[string]string{"v1": rolesPath + "?hash=1"},
			},
			requests: map[string]int{openAPI: 1, rolesPath: 0},
		},
		{
			name: "a document that has not changed, and a field that was not looked up", fields: roleFields, published: published,
			documents: map[string]any{rolesPath: json.RawMessage(roles)},
			previous: Schemas{
				Fields: map[Kind]map[string]bool{roleV1: {"spec.name": true}}, Hashes: map[string]string{"v1": rolesPath + "?hash=1"},
			},
			want: Schemas{
				Fields: map[Kind]map[string]bool{roleV1: {"spec.name": true, "spec.new": false}}, Failures: map[Kind]string{},
				Hashes: map[string]string{"v1": rolesPath + "?hash=1"},
			},
			requests: map[string]int{openAPI: 1, rolesPath: 1},
		},
		{
			name: "a version without a document", fields: roleFields, published: map[string]string{"apis/a.io/v2": "1"},
			want: failing(notPublished),
		},
		{
			name: "a kind without a schema", fields: Fields{{Kind: "Other"}: {"spec"}}, published: published,
			documents: map[string]any{rolesPath: json.RawMessage(roles)},
			want: Schemas{
				Fields: map[Kind]map[string]bool{}, Failures: map[Kind]string{{Version: "v1", Kind: "Other"}: notPublished},
				Hashes: map[string]string{"v1": rolesPath + "?hash=1"},
			},
		},
		{name: "an API server without OpenAPI", fields: roleFields, want: failing(notPublished)},
		{
			name: "no right", fields: roleFields, documents: map[string]any{openAPI: forbidden},
			want: failing("addon-agent may not read /openapi/v3"),
		},
		{
			name: "a server of a version that is down", fields: roleFields, published: published,
			documents: map[string]any{rolesPath: apierrors.NewServiceUnavailable("down")},
			want: Schemas{
				Fields: map[Kind]map[string]bool{}, Failures: map[Kind]string{roleV1: "503 ServiceUnavailable"},
				Hashes: map[string]string{"v1": rolesPath + "?hash=1"},
			},
		},
		{
			name: "an API server that drops the connection", fields: roleFields, published: published, fails: true,
			documents: map[string]any{rolesPath: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := newAPIServer(t)
			if test.published != nil {
				server.publish(test.published)
			}
			for path, response := range test.documents {
				server.set(path, response)
			}
			group := Group{Discovered: true, Kinds: map[string][]string{"Role": {"v1"}, "Other": {"v1"}}}
			err := group.lookUp(t.Context(), API{server.client(t), "addon-agent"}, "a.io", test.fields, test.previous)
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, group.Schemas); diff != "" && !test.fails {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for path, want := range test.requests {
				if got := server.count(path); got != want {
					t.Errorf("%d requests for %s, want %d", got, path, want)
				}
			}
		})
	}
}

// failing returns the schemas of a group whose only kind has no schema.
func failing(cause string) Schemas {
	return Schemas{Fields: map[Kind]map[string]bool{}, Failures: map[Kind]string{roleV1: cause}, Hashes: map[string]string{}}
}

func TestWatcherLooksUpFieldsAfterChanges(t *testing.T) {
	b := newBench(t)
	roleGroup := func(fields map[string]bool, hash string) Group {
		return Group{
			Discovered: true,
			Kinds:      map[string][]string{"Role": {"v1"}},
			Resources:  map[string]string{"Role": "Roles"},
			Schemas: Schemas{
				Fields:   map[Kind]map[string]bool{roleV1: fields},
				Failures: map[Kind]string{},
				Hashes:   map[string]string{"v1": rolesPath + "?hash=" + hash},
			},
		}
	}
	b.server.set("/apis/a.io", groupOf("v1"))
	b.server.set("/apis/a.io/v1", resources("Role"))
	b.server.set(rolesPath, json.RawMessage(roles))
	b.server.publish(map[string]string{"apis/a.io/v1": "1"})
	b.Watch(map[string]Fields{"a.io": {{Kind: "Role"}: {"spec.name"}}})
	b.expect(t, "a.io", roleGroup(map[string]bool{"spec.name": true}, "1"))
	b.Watch(map[string]Fields{"a.io": {{Kind: "Role"}: {"spec.name", "spec.other"}}})
	b.expect(t, "a.io", roleGroup(map[string]bool{"spec.name": true, "spec.other": false}, "1"))
	// Like the discovery document, the OpenAPI document changes a moment after the event of a definition.
	b.define(t, "roles.a.io")
	b.server.set(rolesPath, json.RawMessage(`{"components": {"schemas": {"Role": {
		"x-kubernetes-group-version-kind": [{"group": "a.io", "version": "v1", "kind": "Role"}],
		"properties": {"spec": {"properties": {"other": {"type": "string"}}}}}}}}`))
	b.server.publish(map[string]string{"apis/a.io/v1": "2"})
	b.expect(t, "a.io", roleGroup(map[string]bool{"spec.name": false, "spec.other": true}, "2"))
}

func TestUnreadableSchemaNeedsConfirmation(t *testing.T) {
	watched := &group{result: Group{Discovered: true, Kinds: map[string][]string{"Role": {"v1"}}}}
	lacking := watched.result
	lacking.Schemas = failing(notPublished)
	for i := range confirmations {
		changed, delay := watched.discovered(lacking, nil)
		if want := i == confirmations-1; changed != want || delay == 0 {
			t.Errorf("discovery %d: changed %t, next after %s", i+1, changed, delay)
		}
	}
}
