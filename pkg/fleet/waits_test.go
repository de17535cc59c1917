package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// installing returns the evaluator of a hub on which leaf installs base, and the owner of base consents.
func installing(t *testing.T) *evaluation.Evaluator {
	t.Helper()
	return declaring(t, "dependencies: [{name: base, install: Auto}]")
}

// declaring returns the evaluator of a hub on which leaf has this specification, and the owner of base consents.
func declaring(t *testing.T, leafSpec string) *evaluation.Evaluator {
	t.Helper()
	addOns := []addonv1alpha1.ClusterManagementAddOn{
		{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}},
		{ObjectMeta: metav1.ObjectMeta{Name: "base", Annotations: map[string]string{addonv1alpha1.InstallOnDemandAnnotation: "true"}}},
	}
	for i, spec := range []string{leafSpec, "installStrategy: {type: Manual}"} {
		if err := yaml.UnmarshalStrict([]byte(spec), &addOns[i].Spec); err != nil {
			t.Fatal(err)
		}
	}
	return evaluation.New(catalog.New(addOns))
}

// planned reads a hub on which installations wait.
type planned struct {
	live
	wait evaluation.Wait
	err  error
}

func (p planned) Installation(_ context.Context, addOn types.NamespacedName) (evaluation.Wait, error) {
	if addOn.Namespace != leaf.Namespace || addOn.Name != "base" {
		return evaluation.NoWait, fmt.Errorf("unexpected %s", addOn)
	}
	return p.wait, p.err
}

// TestLoadWaits tests that waits are read for missing add-ons, and that add-ons without a wait are left out.
func TestLoadWaits(t *testing.T) {
	evaluator, away := installing(t), errors.New("away")
	for name, test := range map[string]struct {
		waits     evaluation.Wait
		installed bool
		err       error
		want      evaluation.Wait
	}{
		"approval":  {waits: evaluation.WaitForApproval, want: evaluation.WaitForApproval},
		"unknown":   {waits: evaluation.WaitUnknown, want: evaluation.WaitUnknown},
		"nothing":   {},
		"installed": {waits: evaluation.WaitGivenUp, installed: true},
		"away":      {err: away},
	} {
		t.Run(name, func(t *testing.T) {
			objects := everything(metav1.ConditionTrue)[3:]
			if test.installed {
				objects = append(objects, installed("base"))
			}
			reader, _ := hub(t, nil, objects...)
			loader := Loader{Reader: planned{newLive(reader), test.waits, test.err}}
			state, err := loader.Load(t.Context(), evaluator, leaf, aTime)
			if !errors.Is(err, test.err) || state.Cluster.Waits["base"] != test.want {
				t.Errorf("waits for %q, want %q, %v", state.Cluster.Waits["base"], test.want, err)
			}
			whole, _, err := loader.Whole(t.Context(), evaluator, leaf.Namespace, []string{leaf.Name, "base"}, aTime)
			if !errors.Is(err, test.err) || whole.Waits["base"] != test.want {
				t.Errorf("of the whole cluster: waits for %q, want %q, %v", whole.Waits["base"], test.want, err)
			}
		})
	}
}

// answering reads a hub on which requests for settings have an outcome.
type answering struct {
	live
	err error
}

func (a answering) Setting(_ context.Context, addOn types.NamespacedName) (settings.Outcome, error) {
	if addOn.Namespace != leaf.Namespace || addOn.Name != "base" {
		return settings.Outcome{}, fmt.Errorf("unexpected %s", addOn)
	}
	return settings.Outcome{Obstacle: settings.NotReferred}, a.err
}

func TestLoadSettings(t *testing.T) {
	const requesting = "dependencies: [{name: base, install: Auto, settings: {variables: [{name: mode, value: grpc}]}}]"
	away := errors.New("away")
	for name, test := range map[string]struct {
		spec      string
		installed bool
		err       error
		want      settings.Obstacle
	}{
		"installed": {spec: requesting, installed: true, want: settings.NotReferred},
		"missing":   {spec: requesting},
		"noRequest": {spec: "dependencies: [{name: base}]", installed: true, err: away},
		"away":      {spec: requesting, installed: true, err: away},
	} {
		t.Run(name, func(t *testing.T) {
			objects := everything(metav1.ConditionTrue)[3:]
			if test.installed {
				objects = append(objects, installed("base"))
			}
			wantErr := test.err
			if !strings.Contains(test.spec, "settings") {
				wantErr = nil // nothing is read
			}
			reader, _ := hub(t, nil, objects...)
			loader := Loader{Reader: answering{newLive(reader), test.err}}
			state, err := loader.Load(t.Context(), declaring(t, test.spec), leaf, aTime)
			if !errors.Is(err, wantErr) || state.Cluster.Settings["base"].Obstacle != test.want {
				t.Errorf("got %v, want %q, %v", state.Cluster.Settings, test.want, err)
			}
			whole, _, err := loader.Whole(t.Context(), declaring(t, test.spec), leaf.Namespace, []string{leaf.Name, "base"}, aTime)
			if !errors.Is(err, wantErr) || whole.Settings["base"].Obstacle != test.want {
				t.Errorf("of the whole cluster: got %v, want %q, %v", whole.Settings, test.want, err)
			}
		})
	}
}
