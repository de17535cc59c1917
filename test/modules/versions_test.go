package modules

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

const (
	controlPlane = "test/controlplane"
	ocm          = "test/ocm"
	ocmAddOns    = "test/e2e/addons"
)

// others are the modules that build programs of other projects only, with the reason for other versions than Interlock's.
var others = map[string]string{
	controlPlane:      "Kubernetes is tested against in the newest release that the module proxy has, with the versions of that release",
	ocm:               "OCM is tested against with the versions of its release",
	ocmAddOns:         "add-ons of OCM are tested with the versions of OCM's release",
	"test/upstream":   "the patches are for a release of OCM, and are tested with its versions",
	"test/clusteradm": "clusteradm is used with the versions of its release",
	"test/kind":       "kind and the programs of its nodes are used with the versions of their releases",

	"hack/tools/actionlint":      "tools check or write text, so no package of theirs is built into anything else",
	"hack/tools/controller-gen":  "as hack/tools/actionlint",
	"hack/tools/golangci-lint":   "as hack/tools/actionlint; raised versions change what a linter finds",
	"hack/tools/kube-api-linter": "as hack/tools/golangci-lint",
	"hack/tools/logcheck":        "as hack/tools/golangci-lint",
}

// exceptions are dependencies of a module that it needs in another version than all other modules.
var exceptions = map[string]map[string]string{
	"hack/alerts": {
		"github.com/go-openapi/jsonpointer":   prometheusSwag,
		"github.com/go-openapi/jsonreference": prometheusSwag,
		"github.com/go-openapi/swag":          prometheusSwag,
	},
}

const prometheusSwag = "Prometheus requires versions that consist of a dozen modules, which each importer of pkg/author would inherit"

// Interlock is shipped, tested and measured with one version of each dependency: what a test finds is true of what is
// shipped, and a package that several modules need is compiled once.
func TestOneVersionOfEachDependency(t *testing.T) {
	modules := all(t)
	for folder := range others {
		if modules[folder] == nil {
			t.Errorf("%s is excepted, and no module", folder)
		}
		delete(modules, folder)
	}
	versions := map[string]map[string][]string{} // modules, by dependency and version
	for _, folder := range slices.Sorted(maps.Keys(modules)) {
		for path, version := range modules[folder] {
			if exceptions[folder][path] != "" {
				continue
			}
			if versions[path] == nil {
				versions[path] = map[string][]string{}
			}
			versions[path][version] = append(versions[path][version], folder)
		}
	}
	for path, folders := range versions {
		if len(folders) > 1 {
			t.Errorf("%s is required in %d versions, by %v: require the newest in all of these modules (go mod edit -require), then make tidy",
				path, len(folders), folders)
		}
	}
	for folder, paths := range exceptions {
		for path := range paths {
			if version := modules[folder][path]; version == "" || versions[path][version] != nil {
				t.Errorf("%s needs no exception for %s", folder, path)
			}
		}
	}
}

// The programs of each group have more than half of their packages in common, which are compiled once only where versions
// are the same.
func TestProgramsOfOthersShareVersions(t *testing.T) {
	modules := all(t)
	for _, group := range [][2]string{{controlPlane, ocm}, {ocm, ocmAddOns}} {
		first, second := modules[group[0]], modules[group[1]]
		for path, version := range second {
			// With other versions of these, OCM would be another OCM.
			ofOCM := strings.HasPrefix(path, "open-cluster-management.io/") || path == "sigs.k8s.io/controller-runtime"
			if other, ok := first[path]; ok && other != version && !ofOCM {
				t.Errorf("%s requires %s %s, and %s requires %s: take the same version in both", group[0], path, other, group[1], version)
			}
		}
	}
}

func TestInterlockIsNotBehindItsControlPlane(t *testing.T) {
	modules := all(t)
	for path, version := range modules[controlPlane] {
		shipped, ok := modules["."][path]
		if ok && semver.MustParse(shipped).LessThan(semver.MustParse(version)) {
			t.Errorf("go.mod requires %s %s, and that of %s %s: raise the first", path, shipped, controlPlane, version)
		}
	}
}

// Libraries that one part of the tests needs stay in its module.
func TestInterlockRequiresNeitherChartsNorSolver(t *testing.T) {
	for path := range all(t)["."] {
		if strings.HasPrefix(path, "gonum.org/") || strings.HasPrefix(path, "github.com/crillab/") {
			t.Errorf("go.mod requires %s", path)
		}
	}
}
