package index

import (
	"fmt"
	"slices"

	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// templateConfig returns the supported configuration of an add-on with a default AddOnTemplate.
func templateConfig(name string) ocmv1alpha1.ConfigMeta {
	config := ocmv1alpha1.ConfigMeta{ConfigGroupResource: declaration.Templates}
	if name != "" {
		config.DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: name}
	}
	return config
}

// withNamedTemplates returns the objects of an add-on with the AddOnTemplates that its ClusterManagementAddOn names: by default, or for
// a Placement. It also returns the names of the other templates, which no cluster uses. If the ClusterManagementAddOn names none, the
// only template stays.
func withNamedTemplates(objects []manifest.Object) (kept []manifest.Object, unnamed []string, err error) {
	registration, err := registrationOf(objects[0].Object)
	if err != nil {
		return nil, nil, err
	}
	named := declaration.NamedTemplates(&registration)
	templates := 0
	for _, object := range objects {
		isTemplate := isKind(object.Object, templateKind)
		if isTemplate {
			templates++
		}
		if isTemplate && len(named) > 0 && !slices.Contains(named, object.GetName()) {
			unnamed = append(unnamed, object.GetName())
			continue
		}
		kept = append(kept, object)
	}
	if len(named) == 0 && templates > 1 {
		return nil, nil, fmt.Errorf("it has %d AddOnTemplates: name one as its default configuration", templates)
	}
	return kept, unnamed, nil
}

// checkTemplates returns an error if the ClusterManagementAddOn names an AddOnTemplate that the release does not have: the add-on could
// not be deployed on the clusters that use it.
func checkTemplates(release *resolution.Release) error {
	templates := slices.Clone(release.PlacementTemplates)
	if release.Template != nil {
		templates = append(templates, *release.Template)
	}
	for _, reference := range templateReferences(&release.Registration) {
		if !slices.ContainsFunc(templates, hasName(reference.template)) {
			return fmt.Errorf("it has no AddOnTemplate %q, which its ClusterManagementAddOn names %s: add the file of the template, "+
				"or correct the name", text.Name(reference.template), reference.purpose)
		}
	}
	return nil
}

// setTemplates sets the AddOnTemplates of a release. The default runs, or the first for a Placement, or the only one.
func setTemplates(release *resolution.Release, templates []addonv1alpha1.AddOnTemplate) {
	if len(templates) == 0 {
		return
	}
	running := 0
	if references := templateReferences(&release.Registration); len(references) > 0 {
		running = max(0, slices.IndexFunc(templates, hasName(references[0].template)))
	}
	release.Template = &templates[running]
	release.PlacementTemplates = slices.Delete(slices.Clone(templates), running, running+1)
}

func hasName(name string) func(addonv1alpha1.AddOnTemplate) bool {
	return func(template addonv1alpha1.AddOnTemplate) bool { return template.Name == name }
}

// templateReference is a place in a ClusterManagementAddOn that names an AddOnTemplate.
type templateReference struct{ template, purpose string }

// templateReferences returns the default AddOnTemplate, and then those for Placements.
func templateReferences(registration *addonv1alpha1.ClusterManagementAddOn) []templateReference {
	var references []templateReference
	for _, config := range registration.Spec.SupportedConfigs { //nolint:staticcheck // v1alpha1 has no other field for it
		if config.ConfigGroupResource == declaration.Templates && config.DefaultConfig != nil && config.DefaultConfig.Name != "" {
			references = append(references, templateReference{config.DefaultConfig.Name, "as the default"})
		}
	}
	for _, placement := range registration.Spec.InstallStrategy.Placements {
		for _, config := range placement.Configs {
			if config.ConfigGroupResource == declaration.Templates && config.Name != "" {
				purpose := "for the Placement " + text.Name(placement.Namespace+"/"+placement.Name)
				references = append(references, templateReference{config.Name, purpose})
			}
		}
	}
	return references
}
