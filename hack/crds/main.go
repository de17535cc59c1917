// Command crds writes manifests/crds. These are OCM's own CRDs from the api module of
// go.mod, with Interlock's fields grafted onto the ClusterManagementAddOn, and the CRDs
// that are Interlock's own. It also writes the schema of these fields alone, which
// validates the annotation form.
//
// `make generate` runs it. Before, controller-gen writes the schema of Interlock's Go
// types into the folder that -schemas names.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
)

const (
	apiModule = "open-cluster-management.io/api"
	// schemaFile is the name that controller-gen gives the CRD of Interlock's
	// ClusterManagementAddOn. schemaVersion is the version of its Go types.
	schemaFile    = "addon.open-cluster-management.io_clustermanagementaddons.yaml"
	schemaVersion = "v1alpha1"
	// ownTypes has the types of the CRDs that are Interlock's own.
	ownTypes = "pkg/apis/dependency/v1alpha1"
)

// ownCRDs maps the names that controller-gen gives the CRDs that are Interlock's own to
// names like the other CRDs have.
var ownCRDs = map[string]string{
	"dependency.addon.open-cluster-management.io_managedclusterfacts.yaml":     "0000_02_dependency.addon.open-cluster-management.io_managedclusterfacts.crd.yaml",
	"dependency.addon.open-cluster-management.io_addondependencyreports.yaml":  "0000_02_dependency.addon.open-cluster-management.io_addondependencyreports.crd.yaml",
	"dependency.addon.open-cluster-management.io_addonfleetreports.yaml":       "0000_02_dependency.addon.open-cluster-management.io_addonfleetreports.crd.yaml",
	"dependency.addon.open-cluster-management.io_addoninstallations.yaml":      "0000_02_dependency.addon.open-cluster-management.io_addoninstallations.crd.yaml",
	"dependency.addon.open-cluster-management.io_addondependencypolicies.yaml": "0000_02_dependency.addon.open-cluster-management.io_addondependencypolicies.crd.yaml",
}

// source is a CRD file of the api module. For add-ons, it is the file of v1beta1, which
// has both versions. The file of v1alpha1 has only one.
type source struct {
	path  string
	graft bool
}

var sources = []source{
	{path: "addon/v1beta1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml", graft: true},
	{path: "addon/v1beta1/0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml"},
	{path: "addon/v1beta1/0000_02_addon.open-cluster-management.io_addondeploymentconfigs.crd.yaml"},
	{path: "addon/v1alpha1/0000_03_addon.open-cluster-management.io_addontemplates.crd.yaml"},
	{path: "cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml"},
}

func main() {
	schemas := flag.String("schemas", "", "folder with the CRDs that controller-gen wrote for Interlock's types")
	out := flag.String("out", "", "folder to write the CRDs to")
	fields := flag.String("fields", "", "file to write the schema of Interlock's fields to")
	flag.Parse()
	if err := run(*schemas, *out, *fields); err != nil {
		fmt.Fprintln(os.Stderr, "crds:", err)
		os.Exit(1)
	}
}

func run(schemas, out, fields string) error {
	generated, err := readCRD(filepath.Join(schemas, schemaFile))
	if err != nil {
		return fmt.Errorf("read what controller-gen wrote: %w", err)
	}
	properties, err := crdgraft.SpecProperties(generated, schemaVersion, addonv1alpha1.GraftedSpecFields()...)
	if err != nil {
		return fmt.Errorf("take the schema of Interlock's fields: %w", err)
	}
	encoded, err := json.MarshalIndent(properties, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(fields, append(encoded, '\n'), 0o644); err != nil {
		return err
	}
	api, err := locate(apiModule)
	if err != nil {
		return err
	}
	for _, src := range sources {
		if err := write(src, api, properties, out); err != nil {
			return fmt.Errorf("%s of %s %s: %w", src.path, apiModule, api.version, err)
		}
	}
	for file, target := range ownCRDs {
		crd, err := readCRD(filepath.Join(schemas, file))
		if err != nil {
			return fmt.Errorf("read what controller-gen wrote: %w", err)
		}
		if err := save(crd, "Source: "+ownTypes, filepath.Join(out, target)); err != nil {
			return err
		}
	}
	return nil
}

// write puts one CRD of the api module into out, under its own file name.
func write(src source, api module, properties map[string]any, out string) error {
	crd, err := readCRD(filepath.Join(api.dir, filepath.FromSlash(src.path)))
	if err != nil {
		return err
	}
	change := "Unchanged but for the status stanza."
	if src.graft {
		if crd, err = crdgraft.AddFields(crd, properties); err != nil {
			return err
		}
		change = "Added to spec of every version: " + strings.Join(addonv1alpha1.GraftedSpecFields(), ", ") + "."
	}
	// The api module's files have an empty status. Strict clients refuse it, because
	// only the API server writes status.
	delete(crd, "status")
	origin := fmt.Sprintf("Source: %s %s, %s\n# %s", apiModule, api.version, src.path, change)
	return save(crd, origin, filepath.Join(out, filepath.Base(src.path)))
}

func save(crd map[string]any, origin, path string) error {
	body, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	header := "# Code generated by hack/crds (make generate). DO NOT EDIT.\n# " + origin + "\n"
	return os.WriteFile(path, append([]byte(header), body...), 0o644)
}

func readCRD(path string) (map[string]any, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	crd := map[string]any{}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return crd, nil
}

// module is a Go module at the version that go.mod selects.
type module struct {
	version, dir string
}

func locate(path string) (module, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", path)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return module{}, fmt.Errorf("go list -m %s: %w", path, err)
	}
	version, dir, _ := strings.Cut(strings.TrimSpace(string(output)), " ")
	if dir == "" {
		return module{}, fmt.Errorf("module %s %s is not downloaded: run `go mod download %s`", path, version, path)
	}
	return module{version: version, dir: dir}, nil
}
