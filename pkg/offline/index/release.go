package index

import (
	"cmp"
	"crypto/sha256"
	gojson "encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/pkg/text"
)

// ReleaseKind is the kind of a file addons/NAME/VERSION.yaml of an index.
const ReleaseKind = "AddOnRelease"

// folder is the folder of the releases in an index.
const folder = "addons"

// extension ends the name of a release's file.
const extension = ".yaml"

// Release is a version of an add-on, with its manifests.
type Release struct {
	metav1.TypeMeta `json:",inline"`
	Name            string `json:"name"`
	Version         string `json:"version"`
	// Source is the origin of the manifests. Only people read it.
	Source string `json:"source,omitempty"`
	// Digest is the digest of name, version and manifests.
	Digest string `json:"digest"`
	// Manifests are the objects on the hub: the ClusterManagementAddOn, its AddOnTemplate and others.
	Manifests []map[string]any `json:"manifests"`
}

// digest returns the digest of the name, the version and the manifests. JSON encodes the members of objects in a fixed order.
func (r *Release) digest() (string, error) {
	raw, err := gojson.Marshal([]any{r.Name, r.Version, r.Manifests})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)), nil
}

// check returns the release as an input of resolution, or an error if it cannot be used: it is invalid, or was changed after its
// digest was made.
func (r *Release) check() (*resolution.Release, error) {
	if errs := validation.IsDNS1123Subdomain(r.Name); len(errs) > 0 {
		return nil, fmt.Errorf("name: %q: %s", text.Excerpt(r.Name), errs[0])
	}
	if _, err := versions.ParseRelease(r.Version); err != nil {
		return nil, fmt.Errorf("version: %w", err)
	}
	digest, err := r.digest()
	if err != nil {
		return nil, err
	}
	if digest != r.Digest {
		return nil, fmt.Errorf("digest: the file was changed after it was made: it says %q, and its content has %s; "+
			"make it again with kubectl addon index build", text.Excerpt(r.Digest), digest)
	}
	input, reported, err := r.read()
	if err == nil && reported != r.Version {
		err = fmt.Errorf("version: %q: the manifests report %q", r.Version, text.Excerpt(reported))
	}
	return input, err
}

// read returns the release as an input of resolution, and the version that its ClusterManagementAddOn and AddOnTemplate report.
func (r *Release) read() (*resolution.Release, string, error) {
	input := &resolution.Release{AddOn: r.Name, Version: r.Version}
	registered := false
	var templates []addonv1alpha1.AddOnTemplate
	for i, manifest := range r.Manifests {
		field := fmt.Sprintf("manifests[%d]", i)
		var err error
		switch {
		case isKind(manifest, registrationKind):
			if registered {
				return nil, "", fmt.Errorf("%s: there is another %s before", field, registrationKind)
			}
			registered = true
			if input.Registration, err = registrationOf(manifest); err == nil && input.Registration.Name != r.Name {
				err = fmt.Errorf("metadata.name: %q: the release is of %q", text.Excerpt(input.Registration.Name), r.Name)
			}
		case isKind(manifest, templateKind):
			var template addonv1alpha1.AddOnTemplate
			if template, err = templateOf(manifest); err == nil && template.Spec.AddonName != r.Name {
				err = fmt.Errorf("spec.addonName: %q: the release is of %q", text.Excerpt(template.Spec.AddonName), r.Name)
			}
			templates = append(templates, template)
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", field, err)
		}
	}
	if !registered {
		return nil, "", fmt.Errorf("manifests: there is no %s", registrationKind)
	}
	setTemplates(input, templates)
	sources := versions.Sources{Registration: versions.In(input.Registration.Annotations)}
	if input.Template != nil && declaration.UsesTemplates(&input.Registration) {
		sources.Template.Running = versions.OfTemplate(input.Template.Annotations, input.Template.Labels)
	}
	if sources.UseOCM() {
		return nil, "", fmt.Errorf("its version is %s, that of Open Cluster Management: an index needs a version of its own", versions.OCM)
	}
	return input, versions.Running(sources).Number, nil
}

const (
	registrationKind = "ClusterManagementAddOn"
	templateKind     = "AddOnTemplate"
)

func isKind(manifest map[string]any, kind string) bool {
	version, _ := manifest["apiVersion"].(string)
	return manifest["kind"] == kind && strings.HasPrefix(version, addonv1alpha1.GroupVersion.Group+"/")
}

// registrationOf reads a ClusterManagementAddOn. It reads both versions of its API.
func registrationOf(manifest map[string]any) (addonv1alpha1.ClusterManagementAddOn, error) {
	var addOn addonv1alpha1.ClusterManagementAddOn
	if err := convert(manifest, &addOn); err != nil {
		return addOn, err
	}
	spec, _ := manifest["spec"].(map[string]any)
	configs, _ := spec["defaultConfigs"].([]any) // the field of v1beta1
	for _, item := range configs {
		if config, _ := item.(map[string]any); config["resource"] == declaration.Templates.Resource {
			name, _ := config["name"].(string)
			addOn.Spec.SupportedConfigs = append(addOn.Spec.SupportedConfigs, templateConfig(name)) //nolint:staticcheck // the field of v1alpha1
		}
	}
	return addOn, nil
}

// templateOf reads the declaration of an AddOnTemplate. It does not decode the manifests that the template deploys.
func templateOf(manifest map[string]any) (addonv1alpha1.AddOnTemplate, error) {
	var read struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			AddonName string `json:"addonName"`
		} `json:"spec"`
	}
	err := convert(manifest, &read)
	template := addonv1alpha1.AddOnTemplate{ObjectMeta: read.Metadata}
	template.Spec.AddonName = read.Spec.AddonName
	return template, err
}

func convert(manifest map[string]any, object any) error {
	raw, err := gojson.Marshal(manifest)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, object)
}

// Entry is a release of an index that passed all checks.
type Entry struct {
	Release
	// Input is the release as an input of resolution.
	Input resolution.Release
	// UnnamedTemplates has the AddOnTemplates that Build left out, because the ClusterManagementAddOn does not name them.
	UnnamedTemplates []string
}

// Read reads all releases of an index, by name and version. It refuses a file that was changed by hand.
func Read(index string) ([]Entry, error) {
	root := filepath.Join(index, folder)
	var entries []Entry
	err := filepath.WalkDir(root, func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() || strings.HasPrefix(file.Name(), ".") { // an interrupted write leaves such a file
			return err
		}
		entry, err := readRelease(root, path)
		entries = append(entries, entry)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && len(entries) == 0 {
		return nil, fmt.Errorf("%s is no index: it has no folder %s; kubectl addon index build makes one", index, folder)
	}
	slices.SortStableFunc(entries, compareEntries)
	return entries, err
}

// compareEntries compares releases by their add-ons, and then by their versions: 1.10.0 comes after 1.9.0. Names of files have another order.
func compareEntries(a, b Entry) int {
	if order := cmp.Compare(a.Name, b.Name); order != 0 {
		return order
	}
	first, firstErr := semver.NewVersion(a.Version)
	second, secondErr := semver.NewVersion(b.Version)
	if firstErr != nil || secondErr != nil {
		return cmp.Compare(a.Version, b.Version) // reading an entry has reported it
	}
	return cmp.Or(first.Compare(second), cmp.Compare(a.Version, b.Version))
}

func readRelease(root, path string) (Entry, error) {
	var entry Entry
	if err := readFile(path, ReleaseKind, &entry.Release); err != nil {
		return entry, err
	}
	input, err := entry.check()
	if err != nil {
		return entry, fmt.Errorf("%s: %w", path, err)
	}
	if want := filepath.Join(root, entry.path()); want != path {
		return entry, fmt.Errorf("%s: %s %s belongs to %s", path, entry.Name, entry.Version, want)
	}
	entry.Input = *input
	return entry, nil
}

// DecodeRelease reads the content of a release's file.
func DecodeRelease(content []byte) (Entry, error) {
	var entry Entry
	if err := decode(content, ReleaseKind, &entry.Release); err != nil {
		return entry, err
	}
	input, err := entry.check()
	if err == nil {
		entry.Input = *input
	}
	return entry, err
}

// Path returns the path of the release's file in an index, with slashes.
func (r *Release) Path() string { return path.Join(folder, r.Name, r.Version+extension) }

// Bytes returns the content of the release's file.
func (r *Release) Bytes() ([]byte, error) { return yaml.Marshal(r) }

func (r *Release) path() string { return filepath.Join(r.Name, r.Version+extension) }

// Workspace returns the entries of an index, but for the add-ons of a workspace only its own entries.
func Workspace(entries, workspace []Entry) []Entry {
	return append(slices.DeleteFunc(slices.Clone(entries), func(entry Entry) bool {
		return slices.ContainsFunc(workspace, func(local Entry) bool { return local.Name == entry.Name })
	}), workspace...)
}
