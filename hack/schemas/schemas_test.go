package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

const root = "../.."

// validate validates an object with the schema of its kind. It returns false if there is no schema.
func validate(t *testing.T, document []byte) (ok bool, err error) {
	t.Helper()
	var kind struct{ APIVersion, Kind string }
	raw, err := yaml.YAMLToJSON(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, &kind); err != nil || kind.Kind == "" {
		return false, nil //nolint:nilerr // no object of Kubernetes
	}
	version := kind.APIVersion[strings.LastIndex(kind.APIVersion, "/")+1:]
	path := filepath.Join(root, "schemas", fileName(kind.Kind, version))
	if _, err := os.Stat(path); err != nil || !strings.Contains(kind.APIVersion, "addon.open-cluster-management.io/") {
		return false, nil //nolint:nilerr // another kind
	}
	schema, err := jsonschema.NewCompiler().Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return true, schema.Validate(instance)
}

func TestTheExamplesAreValid(t *testing.T) {
	validated := map[string]int{}
	for _, folder := range []string{"docs/examples", "catalog", "deploy/agent-addon", "examples/cluster-report/deploy"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".lock" {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for document := range strings.SplitSeq("\n"+string(content), "\n---") {
				ok, err := validate(t, []byte(document))
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
				if ok {
					_, kind, _ := strings.Cut(document, "\nkind: ")
					kind, _, _ = strings.Cut(kind, "\n")
					validated[kind]++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"ClusterManagementAddOn", "AddOnTemplate", "AddOnWishes", "AddOnLock", "AddOnRelease"} {
		if validated[kind] == 0 {
			t.Errorf("no %s was validated: %v", kind, validated)
		}
	}
}

func TestMistakesAreFound(t *testing.T) {
	const group = "dependency.addon.open-cluster-management.io/v1alpha1"
	for name, document := range map[string]string{
		"an unknown field":       "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata: {name: a}\nspec: {dependancies: []}",
		"an unnamed dependency":  "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata: {name: a}\nspec: {dependencies: [{type: Required}]}",
		"a wish without a name":  "apiVersion: " + group + "\nkind: AddOnWishes\naddOns: [{version: '1'}]",
		"a policy's wrong waive": "apiVersion: " + group + "\nkind: AddOnDependencyPolicy\nmetadata: {name: a}\nspec: {overrides: [{addOn: a, dependency: b, waive: {until: soon, why: x}}]}",
	} {
		ok, err := validate(t, []byte(document))
		if !ok || err == nil {
			t.Errorf("%s: validated %t, error %v", name, ok, err)
		}
	}
}

func TestThePageForEditorsListsAllSchemas(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/editors.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(root, "schemas"))
	if err != nil || len(entries) < 10 {
		t.Fatalf("%d schemas (%v)", len(entries), err)
	}
	for _, entry := range entries {
		if !strings.Contains(string(page), "`"+entry.Name()+"`") {
			t.Errorf("docs/editors.md does not list %s", entry.Name())
		}
	}
}
