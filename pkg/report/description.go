package report

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Description has the dependencies of an add-on, and the APIs that it provides, on every cluster.
type Description struct {
	metav1.TypeMeta `json:",inline"`
	AddOn           string `json:"addOn"`
	// Version is the version of the registration, which may be empty.
	Version string `json:"version,omitempty"`
	// Declared is the field or the annotation that has the declaration. It is empty if the add-on declares nothing.
	Declared string `json:"declared,omitempty"`
	Needs    []Need `json:"needs"`
	// Templates are the AddOnTemplates of the add-on that have a declaration. It replaces Needs and Provides where the template runs.
	Templates []TemplateDescription `json:"templates,omitempty"`
	// Provides are the APIs that the add-on provides.
	Provides []string `json:"provides,omitempty"`
	// NeededBy are registered add-ons that depend on the add-on.
	NeededBy []string `json:"neededBy,omitempty"`
	// ConflictsWith are registered add-ons that declare a conflict with the add-on.
	ConflictsWith []string `json:"conflictsWith,omitempty"`
	// Bundle means that the add-on has no agent, and is available if all of its dependencies are satisfied.
	Bundle bool `json:"bundle,omitempty"`
	// Ordering has the steps that wait for the dependencies. It is empty if none do.
	Ordering addonv1alpha1.Ordering `json:"ordering,omitempty"`
	// Problems are the problems of the declaration.
	Problems []string `json:"problems,omitempty"`
}

// TemplateDescription describes the declaration of an AddOnTemplate.
type TemplateDescription struct {
	Template string `json:"template"`
	// Version is the version of the template, which may be empty.
	Version  string   `json:"version,omitempty"`
	Needs    []Need   `json:"needs"`
	Provides []string `json:"provides,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

// Need is a dependency or a requirement, as declared.
type Need struct {
	Name string                       `json:"name"`
	Type addonv1alpha1.DependencyType `json:"type"`
	// Subject is an add-on, a range of its versions, an API, or a version of the platform.
	Subject string `json:"what"`
	// Condition is the condition under which it is needed. It is empty if it always is.
	Condition string `json:"when,omitempty"`
	// Message names the features that do not work without it.
	Message string `json:"message,omitempty"`
	// Docs is a link to a page that explains it.
	Docs string `json:"docs,omitempty"`
	// Tolerate is how long an add-on that becomes unavailable still satisfies it. It is empty if it does not.
	Tolerate string `json:"tolerate,omitempty"`
	// Install is Auto if Interlock installs it with the consent of its owner. It is empty if its users install it.
	Install addonv1alpha1.DependencyInstall `json:"install,omitempty"`
	// Removal is WithLastDependent if Interlock removes the add-on that it installed. It is empty if the add-on stays.
	Removal addonv1alpha1.DependencyRemoval `json:"removal,omitempty"`
	// Config is a CEL expression on the settings of the add-on. It is empty if all settings satisfy the dependency.
	Config string `json:"config,omitempty"`
	// ConfigMessage names the features that do not work with other settings.
	ConfigMessage string `json:"configMessage,omitempty"`
	// Settings are the variables that it gets if Interlock installs it. They are nil if it gets none.
	Settings *addonv1alpha1.DependencySettings `json:"settings,omitempty"`
	// Registered reports whether the hub has a ClusterManagementAddOn for it, or for one of the alternatives. It is nil for
	// needs without an add-on.
	Registered *bool `json:"registered,omitempty"`
	// Unregistered are the alternatives for which the hub has no ClusterManagementAddOn.
	Unregistered []string `json:"unregistered,omitempty"`
}

// Describe describes an add-on among all that are registered, and the AddOnTemplates of the hub.
func Describe(registrations []addonv1alpha1.ClusterManagementAddOn, templates []addonv1alpha1.AddOnTemplate, addOn string) *Description {
	catalog := catalog.New(registrations, templates...)
	decl := catalog.Declaration(addOn)
	description := &Description{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "AddOnDescription"}, AddOn: addOn,
		Version: catalog.Version(addOn).Current,
		Needs:   needsOf(catalog, decl), Provides: providedAPIs(decl), Problems: messagesOf(catalog.Problems(addOn)),
	}
	description.NeededBy, description.ConflictsWith = dependentsOf(catalog, addOn)
	description.Bundle = catalog.Install(addOn).Bundle
	if decl.Ordering != addonv1alpha1.OrderingNone {
		description.Ordering = decl.Ordering
	}
	if !decl.Empty() {
		description.Declared = decl.Path
	}
	for _, name := range catalog.Variants(addOn) {
		_, templateDecl, _ := catalog.Template(name)
		template := TemplateDescription{
			Template: name, Needs: needsOf(catalog, templateDecl), Provides: providedAPIs(templateDecl),
			Problems: messagesOf(catalog.TemplateProblems(name)),
		}
		for i := range templates {
			if templates[i].Name == name {
				template.Version = versions.OfTemplate(templates[i].Annotations, templates[i].Labels)
			}
		}
		description.Templates = append(description.Templates, template)
	}
	return description
}

// needsOf returns the dependencies and requirements of a declaration.
func needsOf(catalog *catalog.Catalog, decl declaration.Declaration) []Need {
	needs := []Need{}
	for i := range decl.Edges {
		edge := &decl.Edges[i]
		need := Need{Name: edge.Dependency.Name, Type: edge.Dependency.Type, Subject: subjectOf(&edge.Dependency)}
		need.Message, need.Docs, need.Tolerate = edge.Dependency.Message, edge.Dependency.Docs, edge.Dependency.Tolerate
		if declaration.Installs(&edge.Dependency) {
			need.Install = edge.Dependency.Install
		}
		if declaration.Removes(&edge.Dependency) {
			need.Removal = edge.Dependency.Removal
		}
		if edge.Dependency.Config != nil {
			need.Config, need.ConfigMessage = edge.Dependency.Config.Expression, edge.Dependency.Config.Message
		}
		need.Settings = edge.Dependency.Settings
		if edge.Dependency.When != nil {
			need.Condition = conditionOf(edge.Dependency.When)
		}
		for end := range edge.Ends() {
			if end.AddOn == "" {
				continue
			}
			registered := catalog.Registered(end.AddOn)
			if need.Registered == nil || registered {
				need.Registered = &registered
			}
			if len(edge.Alternatives) > 0 && !registered {
				need.Unregistered = append(need.Unregistered, end.AddOn)
			}
		}
		needs = append(needs, need)
	}
	if decl.Requirements != nil && decl.Requirements.Interlock != "" {
		needs = append(needs, Need{
			Name: "requirements.interlock", Type: addonv1alpha1.DependencyTypeRequired, Subject: "Interlock " + decl.Requirements.Interlock,
		})
	}
	for _, required := range decl.Platform {
		needs = append(needs, Need{
			Name: required.Name, Type: addonv1alpha1.DependencyTypeRequired,
			Subject: strings.TrimSpace(required.Subject + " " + required.Wanted),
		})
	}
	return needs
}

// providedAPIs returns the names of the APIs that a declaration provides.
func providedAPIs(decl declaration.Declaration) []string {
	var provided []string
	for _, api := range decl.Provides {
		finding := evaluation.Finding{Dependency: &addonv1alpha1.AddonDependency{API: &addonv1alpha1.DependencyAPI{AddonAPI: api}}}
		provided = append(provided, finding.Target())
	}
	return provided
}

// messagesOf returns the messages of problems. It omits dependencies that are not registered, because each need shows that.
func messagesOf(problems []declaration.Problem) []string {
	var messages []string
	for _, problem := range problems {
		if problem.Reason != declaration.ProblemNotRegistered {
			messages = append(messages, problem.Message)
		}
	}
	return messages
}

// dependentsOf returns the add-ons that need an add-on, and the add-ons that conflict with it. AddOnTemplates can declare that, too.
func dependentsOf(catalog *catalog.Catalog, addOn string) (needing, conflicting []string) {
	for _, dependent := range catalog.Dependents(addOn) {
		edges := slices.Clone(catalog.Declaration(dependent).Edges)
		for _, name := range catalog.Variants(dependent) {
			_, templateDecl, _ := catalog.Template(name)
			edges = append(edges, templateDecl.Edges...)
		}
		needs, conflicts := false, false
		for i := range edges {
			matches, excludes := edges[i].IsOn(addOn), declaration.Conflicts(&edges[i].Dependency)
			needs = needs || matches && !excludes
			conflicts = conflicts || matches && excludes
		}
		if needs {
			needing = append(needing, dependent)
		}
		if conflicts {
			conflicting = append(conflicting, dependent)
		}
	}
	return needing, conflicting
}

func subjectOf(dependency *addonv1alpha1.AddonDependency) string {
	if declaration.HasAlternatives(dependency) {
		var alternatives []string
		for _, named := range evaluation.Named(dependency) {
			alternatives = append(alternatives, subjectOf(named.Dependency))
		}
		return "one of: " + strings.Join(alternatives, "; ")
	}
	finding := evaluation.Finding{Dependency: dependency}
	subject := "add-on " + finding.Target()
	if dependency.API != nil {
		subject = "API " + finding.Target()
		if fields := dependency.API.Fields; len(fields) > 0 {
			noun := " with field "
			if len(fields) > 1 {
				noun = " with fields "
			}
			subject += noun + strings.Join(fields, ", ")
		}
	}
	if dependency.Version != "" {
		subject += " " + dependency.Version
	}
	if declaration.Conflicts(dependency) {
		subject = "no " + subject
	}
	return subject
}

func conditionOf(condition *addonv1alpha1.DependencyWhen) string {
	var conditions []string
	if condition.ClusterSelector != nil {
		conditions = append(conditions, "cluster has "+metav1.FormatLabelSelector(condition.ClusterSelector))
	}
	if condition.Expression != "" {
		conditions = append(conditions, fmt.Sprintf("%q", condition.Expression))
	}
	return strings.Join(conditions, " and ")
}
