package index

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// templateConfig supports AddOnTemplates.
var templateConfig = ocmv1alpha1.ConfigMeta{ConfigGroupResource: declaration.Templates}

// Build makes releases of manifests: one for each ClusterManagementAddOn. An AddOnTemplate belongs to the add-on that it
// names, and any other object to the add-on of its file, or of its folder. set has versions for add-ons whose manifests
// report none.
func Build(objects []manifest.Object, source string, set map[string]string) ([]Entry, error) {
	registered := slices.DeleteFunc(slices.Clone(objects), func(one manifest.Object) bool { return !isKind(one.Object, registrationKind) })
	if len(registered) == 0 {
		return nil, fmt.Errorf("there is no %s", registrationKind)
	}
	by := map[string][]manifest.Object{}
	for _, one := range registered {
		if by[one.GetName()] != nil {
			return nil, fmt.Errorf("%s: %q is registered in %s too", one.Path, text.Name(one.GetName()), by[one.GetName()][0].Path)
		}
		by[one.GetName()] = []manifest.Object{one}
	}
	var errs []error
	for _, one := range objects {
		if isKind(one.Object, registrationKind) {
			continue
		}
		owner, err := ownerOf(one, registered)
		if err != nil {
			errs = append(errs, err)
		} else if owner != "" {
			by[owner] = append(by[owner], one)
		}
	}
	var entries []Entry
	for _, one := range registered {
		entry, err := makeEntry(one.GetName(), source, by[one.GetName()], set)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: add-on %q: %w", one.Path, text.Name(one.GetName()), err))
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, errors.Join(errs...)
}

// AddOns are the names of the add-ons that manifests register.
func AddOns(objects []manifest.Object) (names []string) {
	for _, one := range objects {
		if isKind(one.Object, registrationKind) {
			names = append(names, one.GetName())
		}
	}
	return names
}

// ownerOf returns the add-on that an object belongs to; empty for a template of another add-on.
func ownerOf(one manifest.Object, registered []manifest.Object) (string, error) {
	if isKind(one.Object, templateKind) {
		owner, _, _ := unstructured.NestedString(one.Object, "spec", "addonName")
		if !slices.ContainsFunc(registered, func(r manifest.Object) bool { return r.GetName() == owner }) {
			return "", fmt.Errorf("%s: AddOnTemplate %q: spec.addonName: %q has no %s here",
				one.Path, text.Name(one.GetName()), text.Excerpt(owner), registrationKind)
		}
		return owner, nil
	}
	for _, together := range []func(manifest.Object) bool{
		func(r manifest.Object) bool { return r.Path == one.Path },
		func(r manifest.Object) bool { return filepath.Dir(r.Path) == filepath.Dir(one.Path) },
		func(manifest.Object) bool { return true },
	} {
		near := slices.DeleteFunc(slices.Clone(registered), func(r manifest.Object) bool { return !together(r) })
		switch len(near) {
		case 0:
		case 1:
			return near[0].GetName(), nil
		default:
			return "", fmt.Errorf("%s: %s %q may belong to %s or %s: put it into the file or the folder of one of them",
				one.Path, text.Name(one.GetKind()), text.Name(one.GetName()), text.Name(near[0].GetName()), text.Name(near[1].GetName()))
		}
	}
	return "", nil
}

// makeEntry makes the release of one add-on.
func makeEntry(name, source string, objects []manifest.Object, set map[string]string) (Entry, error) {
	release := Release{TypeMeta: typeOf(ReleaseKind), Name: name, Source: source}
	registration := objects[0].DeepCopy()
	chosen, err := templateNamed(registration.Object, objects)
	if err != nil {
		return Entry{}, err
	}
	for _, one := range objects {
		if isKind(one.Object, templateKind) && one.GetName() != chosen {
			continue
		}
		release.Manifests = append(release.Manifests, ownPart(one.DeepCopy()).Object)
	}
	slices.SortStableFunc(release.Manifests, compareManifests)
	_, reported, err := release.read()
	if err != nil {
		return Entry{}, err
	}
	if release.Version = cmp.Or(reported, set[name]); release.Version == "" {
		return Entry{}, noVersion{name}
	}
	if reported == "" {
		for _, one := range release.Manifests {
			if isKind(one, registrationKind) {
				object := unstructured.Unstructured{Object: one}
				annotations := object.GetAnnotations()
				if annotations == nil {
					annotations = map[string]string{}
				}
				annotations[addonv1alpha1.AddOnVersionAnnotation] = release.Version
				object.SetAnnotations(annotations)
			}
		}
	}
	if release.Digest, err = release.digest(); err != nil {
		return Entry{}, err
	}
	of, err := release.check()
	if err != nil {
		return Entry{}, err
	}
	return Entry{release, *of}, nil
}

// noVersion is the error for an add-on whose manifests report no version.
type noVersion struct{ name string }

func (noVersion) Error() string {
	return "it reports no version: set the annotation " + addonv1alpha1.AddOnVersionAnnotation
}

// Unversioned returns the name of the add-on where the error is that its manifests report no version.
func Unversioned(err error) (name string, is bool) {
	var missing noVersion
	is = errors.As(err, &missing)
	return missing.name, is
}

// templateNamed returns the AddOnTemplate that runs: the only one, or the one that the registration names.
func templateNamed(registration map[string]any, objects []manifest.Object) (string, error) {
	var templates []string
	for _, one := range objects {
		if isKind(one.Object, templateKind) {
			templates = append(templates, one.GetName())
		}
	}
	if len(templates) == 0 {
		return "", nil
	}
	if len(templates) == 1 {
		return templates[0], nil
	}
	for _, one := range defaultsOf(registration) {
		if one.resource == declaration.Templates.Resource && slices.Contains(templates, one.name) {
			return one.name, nil
		}
	}
	return "", fmt.Errorf("it has %d AddOnTemplates: name one as its default configuration", len(templates))
}

// ownPart removes what a hub adds to an object.
func ownPart(object *unstructured.Unstructured) *unstructured.Unstructured {
	unstructured.RemoveNestedField(object.Object, "status")
	for _, added := range []string{
		"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "ownerReferences", "finalizers",
	} {
		unstructured.RemoveNestedField(object.Object, "metadata", added)
	}
	annotations := object.GetAnnotations()
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
	return object
}

func compareManifests(a, b map[string]any) int {
	of := func(manifest map[string]any) []string {
		object := unstructured.Unstructured{Object: manifest}
		return []string{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}
	}
	return slices.Compare(of(a), of(b))
}
