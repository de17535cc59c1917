// Package hubrecord keeps the inputs of an installation of Interlock by kubectl addon hub: the chart and its values. They are in the
// Secret that is the parent of the installed objects.
package hubrecord

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
)

// Name is the name of the Secret.
const Name = "interlock-release"

// State is the progress of an installation.
type State string

// The states.
const (
	// Applying is the state until all objects are applied, and obsolete ones are deleted.
	Applying State = "Applying"
	// Installed is the state of a complete installation.
	Installed State = "Installed"
	// Uninstalling is the state from the beginning of an uninstallation.
	Uninstalling State = "Uninstalling"
)

// Keys of the Secret.
const (
	stateKey    = "state"
	versionKey  = "version"
	chartKey    = "chart.tgz"
	valuesKey   = "values.yaml"
	registryKey = "registry"
	tagKey      = "tag"
)

// Record has the inputs of an installation.
type Record struct {
	State   State
	Version string
	// Chart is the archive of the chart.
	Chart []byte
	// Values are the values that the user has set. Defaults of the chart are not among them.
	Values map[string]any
	// Registry is where the images were pushed to. Tag is their tag, if the chart does not name it. Both may be empty.
	Registry, Tag string
	// Kinds are the kinds of the objects that may be in the set.
	Kinds []schema.GroupKind
}

// Set returns the set of the objects in a namespace.
func Set(hub client.Client, namespace string) *applyset.Set {
	return &applyset.Set{Client: hub, Parent: types.NamespacedName{Namespace: namespace, Name: Name}}
}

// Read reads the record of an installation. It returns nil if there is none.
func Read(ctx context.Context, set *applyset.Set) (*Record, error) {
	parent, err := set.Read(ctx)
	if parent == nil || err != nil {
		return nil, err
	}
	return decode(parent)
}

func decode(parent *corev1.Secret) (*Record, error) {
	record := &Record{
		State: State(parent.Data[stateKey]), Version: string(parent.Data[versionKey]), Chart: parent.Data[chartKey],
		Registry: string(parent.Data[registryKey]), Tag: string(parent.Data[tagKey]), Kinds: applyset.Kinds(parent), Values: map[string]any{},
	}
	if err := yaml.UnmarshalStrict(parent.Data[valuesKey], &record.Values); err != nil {
		return nil, fmt.Errorf("secret %s/%s: %s: %w", parent.Namespace, parent.Name, valuesKey, err)
	}
	return record, nil
}

// Write writes the record.
func (r *Record) Write(ctx context.Context, set *applyset.Set) error {
	values, err := yaml.Marshal(r.Values)
	if err != nil {
		return err
	}
	return set.Write(ctx, r.Kinds, map[string][]byte{
		stateKey: []byte(r.State), versionKey: []byte(r.Version), chartKey: r.Chart, valuesKey: values,
		registryKey: []byte(r.Registry), tagKey: []byte(r.Tag),
	})
}

// RenderValues returns the values to render the chart with: the values of the user, and the place of the images.
func (r *Record) RenderValues(prefix string) map[string]any {
	values := maps.Clone(r.Values)
	if values == nil {
		values = map[string]any{}
	}
	images, _ := values["images"].(map[string]any)
	images = maps.Clone(images)
	if images == nil {
		images = map[string]any{}
	}
	if prefix != "" {
		images["prefix"] = prefix
	}
	if r.Tag != "" {
		images["tag"] = r.Tag
	}
	if len(images) > 0 {
		values["images"] = images
	}
	return values
}
