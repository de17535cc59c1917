package index

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/offline/kustomization"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// Build makes releases from manifests: one for each ClusterManagementAddOn. An AddOnTemplate belongs to the add-on that it
// names, and any other object to the add-on of its file, or of its folder. set has versions for add-ons whose manifests
// report no version.
func Build(objects []manifest.Object, source string, set map[string]string) ([]Entry, error) {
	isOther := func(object manifest.Object) bool { return !isKind(object.Object, registrationKind) }
	registrations := slices.DeleteFunc(slices.Clone(objects), isOther)
	if len(registrations) == 0 {
		return nil, fmt.Errorf("there is no %s, which registers an add-on: add the file that has it", registrationKind)
	}
	byAddOn := map[string][]manifest.Object{}
	for _, registration := range registrations {
		name := registration.GetName()
		if byAddOn[name] != nil {
			err := fmt.Errorf("%s: %q is registered in %s too", registration.Path, text.Name(name), byAddOn[name][0].Path)
			if kustomization.IsPath(registration.Path) {
				err = fmt.Errorf("%w: %s", err, kustomization.OverlayAdvice)
			}
			return nil, err
		}
		byAddOn[name] = []manifest.Object{registration}
	}
	var errs []error
	for _, object := range objects {
		if isKind(object.Object, registrationKind) {
			continue
		}
		owner, err := ownerOf(object, registrations)
		if err != nil {
			errs = append(errs, err)
		} else if owner != "" {
			byAddOn[owner] = append(byAddOn[owner], object)
		}
	}
	var entries []Entry
	for _, registration := range registrations {
		name := registration.GetName()
		entry, err := makeEntry(name, source, byAddOn[name], set)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: add-on %q: %w", registration.Path, text.Name(name), err))
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, errors.Join(errs...)
}

// AddOns returns the names of the add-ons that manifests register.
func AddOns(objects []manifest.Object) []string {
	var names []string
	for _, object := range objects {
		if isKind(object.Object, registrationKind) {
			names = append(names, object.GetName())
		}
	}
	return names
}

// ownerOf returns the add-on that an object belongs to: the add-on of its file, of its folder, or the only one. The error names two
// add-ons that an object may belong to.
func ownerOf(object manifest.Object, registrations []manifest.Object) (string, error) {
	if isKind(object.Object, templateKind) {
		owner, _, _ := unstructured.NestedString(object.Object, "spec", "addonName")
		if !slices.ContainsFunc(registrations, func(r manifest.Object) bool { return r.GetName() == owner }) {
			return "", fmt.Errorf("%s: AddOnTemplate %q: spec.addonName: %q has no %s here",
				object.Path, text.Name(object.GetName()), text.Excerpt(owner), registrationKind)
		}
		return owner, nil
	}
	for _, isNear := range []func(manifest.Object) bool{
		func(r manifest.Object) bool { return r.Path == object.Path },
		func(r manifest.Object) bool { return filepath.Dir(r.Path) == filepath.Dir(object.Path) },
		func(manifest.Object) bool { return true },
	} {
		owners := slices.DeleteFunc(slices.Clone(registrations), func(r manifest.Object) bool { return !isNear(r) })
		switch len(owners) {
		case 0:
		case 1:
			return owners[0].GetName(), nil
		default:
			return "", fmt.Errorf("%s: %s %q may belong to %s or %s: put it into the file or the folder of one of them",
				object.Path, text.Name(object.GetKind()), text.Name(object.GetName()),
				text.Name(owners[0].GetName()), text.Name(owners[1].GetName()))
		}
	}
	return "", nil
}

// makeEntry makes the release of one add-on.
func makeEntry(name, source string, objects []manifest.Object, set map[string]string) (Entry, error) {
	release := Release{TypeMeta: typeOf(ReleaseKind), Name: name, Source: source}
	objects, unnamed, err := withNamedTemplates(objects)
	if err != nil {
		return Entry{}, err
	}
	for _, object := range objects {
		release.Manifests = append(release.Manifests, withoutHubFields(object.DeepCopy()).Object)
	}
	slices.SortStableFunc(release.Manifests, compareManifests)
	read, reported, err := release.read()
	if err == nil {
		err = checkTemplates(read)
	}
	if err != nil {
		return Entry{}, err
	}
	if release.Version = cmp.Or(reported, set[name]); release.Version == "" {
		return Entry{}, noVersion{name}
	}
	if reported == "" {
		for _, m := range release.Manifests {
			if isKind(m, registrationKind) {
				object := unstructured.Unstructured{Object: m}
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
	input, err := release.check()
	if err != nil {
		return Entry{}, err
	}
	return Entry{Release: release, Input: *input, UnnamedTemplates: unnamed}, nil
}

// noVersion is the error for an add-on whose manifests report no version.
type noVersion struct{ name string }

func (noVersion) Error() string {
	return "it reports no version: set the annotation " + addonv1alpha1.AddOnVersionAnnotation
}

// Unversioned returns the name of an add-on whose manifests report no version, if that is the error.
func Unversioned(err error) (string, bool) {
	var missing noVersion
	ok := errors.As(err, &missing)
	return missing.name, ok
}

// withoutHubFields removes the fields that a hub adds to an object.
func withoutHubFields(object *unstructured.Unstructured) *unstructured.Unstructured {
	unstructured.RemoveNestedField(object.Object, "status")
	for _, name := range []string{
		"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "ownerReferences", "finalizers",
	} {
		unstructured.RemoveNestedField(object.Object, "metadata", name)
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
	key := func(manifest map[string]any) []string {
		object := unstructured.Unstructured{Object: manifest}
		return []string{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}
	}
	return slices.Compare(key(a), key(b))
}
