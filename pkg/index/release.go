package index

import (
	"crypto/sha256"
	gojson "encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/wholefile"
)

// ReleaseKind is the kind of a file addons/NAME/VERSION.yaml of an index.
const ReleaseKind = "AddOnRelease"

// folder is where an index has its releases.
const folder = "addons"

// Release is one version of an add-on, with its manifests.
type Release struct {
	metav1.TypeMeta `json:",inline"`
	Name            string `json:"name"`
	Version         string `json:"version"`
	// Source is where the manifests are from, for people.
	Source string `json:"source,omitempty"`
	// Digest is that of name, version and manifests.
	Digest string `json:"digest"`
	// Manifests are the objects on the hub: the ClusterManagementAddOn, its AddOnTemplate and others.
	Manifests []map[string]any `json:"manifests"`
}

// digest hashes what is installed. JSON has the members of objects in one order.
func (r *Release) digest() (string, error) {
	raw, err := gojson.Marshal([]any{r.Name, r.Version, r.Manifests})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)), nil
}

// check returns an error unless the release can be used. It is the one that the digest was made of.
func (r *Release) check() (*resolution.Release, error) {
	if errs := validation.IsDNS1123Subdomain(r.Name); len(errs) > 0 {
		return nil, fmt.Errorf("name: %q: %s", text.Excerpt(r.Name), errs[0])
	}
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(r.Version, "v")); err != nil {
		return nil, fmt.Errorf("version: %q: must be a semantic version such as 1.2.3", text.Excerpt(r.Version))
	}
	digest, err := r.digest()
	if err != nil {
		return nil, err
	}
	if digest != r.Digest {
		return nil, fmt.Errorf("digest: the file was changed after it was made: it says %q, and its content has %s; "+
			"make it again with kubectl addon index build", text.Excerpt(r.Digest), digest)
	}
	of, reported, err := r.read()
	if err == nil && reported != r.Version {
		err = fmt.Errorf("version: %q: the manifests report %q", r.Version, text.Excerpt(reported))
	}
	return of, err
}

// read finds the ClusterManagementAddOn and the AddOnTemplate among the manifests, and the version that they report.
func (r *Release) read() (of *resolution.Release, version string, err error) {
	of = &resolution.Release{AddOn: r.Name, Version: r.Version}
	found := false
	for i, manifest := range r.Manifests {
		at := fmt.Sprintf("manifests[%d]", i)
		switch {
		case isKind(manifest, registrationKind):
			if found {
				return nil, "", fmt.Errorf("%s: there is another %s before", at, registrationKind)
			}
			found = true
			if of.Registration, err = registrationOf(manifest); err == nil && of.Registration.Name != r.Name {
				err = fmt.Errorf("metadata.name: %q: the release is of %q", text.Excerpt(of.Registration.Name), r.Name)
			}
		case isKind(manifest, templateKind):
			if of.Template != nil {
				return nil, "", fmt.Errorf("%s: there is another %s before", at, templateKind)
			}
			if of.Template, err = templateOf(manifest); err == nil && of.Template.Spec.AddonName != r.Name {
				err = fmt.Errorf("spec.addonName: %q: the release is of %q", text.Excerpt(of.Template.Spec.AddonName), r.Name)
			}
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", at, err)
		}
	}
	if !found {
		return nil, "", fmt.Errorf("manifests: there is no %s", registrationKind)
	}
	sources := versions.Sources{Registration: versions.In(of.Registration.Annotations)}
	if of.Template != nil && declaration.UsesTemplates(&of.Registration) {
		sources.Template.Running = versions.OfTemplate(of.Template.Annotations, of.Template.Labels)
	}
	if sources.UseOCM() {
		return nil, "", fmt.Errorf("its version is %s, that of Open Cluster Management: an index needs a version of its own", versions.OCM)
	}
	return of, versions.Running(sources).Number, nil
}

const (
	registrationKind = "ClusterManagementAddOn"
	templateKind     = "AddOnTemplate"
)

func isKind(manifest map[string]any, kind string) bool {
	version, _ := manifest["apiVersion"].(string)
	return manifest["kind"] == kind && strings.HasPrefix(version, addonv1alpha1.GroupVersion.Group+"/")
}

// registrationOf reads a ClusterManagementAddOn of either version of its API.
func registrationOf(manifest map[string]any) (addOn addonv1alpha1.ClusterManagementAddOn, err error) {
	if err := convert(manifest, &addOn); err != nil {
		return addOn, err
	}
	spec, _ := manifest["spec"].(map[string]any)
	if configs, is := spec["defaultConfigs"].([]any); is { // as v1beta1 has them
		for _, one := range configs {
			if config, _ := one.(map[string]any); config["resource"] == declaration.Templates.Resource {
				addOn.Spec.SupportedConfigs = append(addOn.Spec.SupportedConfigs, templateConfig) //nolint:staticcheck // what v1alpha1 has
			}
		}
	}
	return addOn, nil
}

// templateOf reads of an AddOnTemplate what declares. What it deploys is not decoded.
func templateOf(manifest map[string]any) (*addonv1alpha1.AddOnTemplate, error) {
	var read struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			AddonName string `json:"addonName"`
		} `json:"spec"`
	}
	err := convert(manifest, &read)
	template := &addonv1alpha1.AddOnTemplate{ObjectMeta: read.Metadata}
	template.Spec.AddonName = read.Spec.AddonName
	return template, err
}

func convert(manifest map[string]any, into any) error {
	raw, err := gojson.Marshal(manifest)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Entry is a release of an index that can be used.
type Entry struct {
	Release
	// Of is what it declares.
	Of resolution.Release
}

// Read reads all releases of an index, by name and version. A file that was changed by hand is refused.
func Read(index string) ([]Entry, error) {
	root := filepath.Join(index, folder)
	var entries []Entry
	err := filepath.WalkDir(root, func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() || strings.HasPrefix(file.Name(), ".") { // as an interrupted write leaves it
			return err
		}
		entry, err := readRelease(root, path)
		entries = append(entries, entry)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && len(entries) == 0 {
		return nil, fmt.Errorf("%s is no index: it has no folder %s; kubectl addon index build makes one", index, folder)
	}
	return entries, err
}

func readRelease(root, path string) (entry Entry, err error) {
	if err := readFile(path, ReleaseKind, &entry.Release); err != nil {
		return entry, err
	}
	of, err := entry.check()
	if err != nil {
		return entry, fmt.Errorf("%s: %w", path, err)
	}
	if want := filepath.Join(root, entry.path()); want != path {
		return entry, fmt.Errorf("%s: %s %s belongs to %s", path, entry.Name, entry.Version, want)
	}
	entry.Of = *of
	return entry, nil
}

// DecodeRelease reads a release that is no file.
func DecodeRelease(content []byte) (entry Entry, err error) {
	if err := decode(content, ReleaseKind, &entry.Release); err != nil {
		return entry, err
	}
	of, err := entry.check()
	if err == nil {
		entry.Of = *of
	}
	return entry, err
}

// Path is the file of the release in an index, with slashes.
func (r *Release) Path() string { return path.Join(folder, r.Name, r.Version+".yaml") }

// Bytes is the release as a file.
func (r *Release) Bytes() ([]byte, error) { return yaml.Marshal(r) }

func (r *Release) path() string { return filepath.Join(r.Name, r.Version+".yaml") }

// Write adds a release to an index. A version that is there with another content is an error, because locks name it.
func Write(index string, release *Release) (written bool, err error) {
	path := filepath.Join(index, folder, release.path())
	var before Release
	switch err := readFile(path, ReleaseKind, &before); {
	case err == nil && before.Digest == release.Digest:
		return false, nil
	case err == nil:
		return false, fmt.Errorf("%s: %s %s is there with another content: give it another version, or remove the file",
			path, release.Name, release.Version)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	content, err := release.Bytes()
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return false, err
	}
	return true, Replace(path, content)
}

// Replace writes a file as a whole: a reader sees the former content or this one.
func Replace(path string, content []byte) error {
	return wholefile.Write(path, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

// Workspace are entries that are taken instead of all releases of their add-ons.
func Workspace(entries, workspace []Entry) []Entry {
	return append(slices.DeleteFunc(slices.Clone(entries), func(one Entry) bool {
		return slices.ContainsFunc(workspace, func(other Entry) bool { return other.Name == one.Name })
	}), workspace...)
}
