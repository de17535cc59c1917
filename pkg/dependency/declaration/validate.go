package declaration

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// The limits of the schema.
const (
	maxName       = 253
	maxRange      = versions.MaxRange
	maxExpression = 4096
	// maxDependencies is how many one add-on may have. Each is evaluated on every cluster.
	maxDependencies = 256
	// maxExpressions is how many expressions the dependencies of one add-on may have, and
	// maxExpressionBytes how long all of these may be: they are compiled at each change.
	maxExpressions     = 16
	maxExpressionBytes = 64 << 10
	// maxAnnotation is what an API server stores of all annotations of an object.
	maxAnnotation = 256 << 10
	// MaxBytes is how long a declaration by field may be. Its record leaves room for other
	// annotations.
	MaxBytes = 192 << 10
	// MaxValues is how many values a declaration may have, of any depth. 256 dependencies
	// with all that they may have are fewer, but for lists in selectors and in alternatives.
	MaxValues      = 20_000
	maxIdentifiers = 16
	maxIdentifier  = 64
	maxAPIName     = 63
	maxFields      = 16
	maxFieldPath   = 256
	maxClaims      = 64
	maxProvides    = 128
)

var (
	knownTypes = []addonv1alpha1.DependencyType{
		addonv1alpha1.DependencyTypeOptional, addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeIfInstalled,
		addonv1alpha1.DependencyTypeConflicts,
	}

	knownServers = []addonv1alpha1.APIServer{
		addonv1alpha1.APIServerManagedCluster, addonv1alpha1.APIServerHub, addonv1alpha1.APIServerHostingCluster,
	}

	identifierForm = regexp.MustCompile(`^[0-9A-Za-z-]+$`)
	groupForm      = regexp.MustCompile(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`)
	apiVersionForm = regexp.MustCompile(`^([a-z]([-a-z0-9]*[a-z0-9])?)?$`)
	fieldForm      = regexp.MustCompile(`^[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*$`)
	kindForm       = regexp.MustCompile(`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`)
)

// validateList checks a list of dependencies found at path by the rules of the
// schema, for where no schema has checked it. The errors name field and value.
func validateList(listed []addonv1alpha1.AddonDependency, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, entry := range listed {
		at := path.Index(i)
		if strings.TrimSpace(entry.Name) == "" {
			errs = append(errs, field.Required(at.Child("name"), "name the add-on that is depended on"))
		}
		if entry.Type != "" && !slices.Contains(knownTypes, entry.Type) {
			errs = append(errs, field.NotSupported(at.Child("type"), entry.Type, knownTypes))
		}
		errs = append(errs, validateCombination(entry, at)...)
		errs = append(errs, validateAnyOf(&entry, at)...)
		errs = append(errs, validateDocs(entry.Docs, at.Child("docs"))...)
		errs = append(errs, validateInstall(&entry, at.Child("install"))...)
		errs = append(errs, validateRemoval(&entry, at.Child("removal"))...)
		errs = append(errs, tooLong(at.Child("addOn"), entry.AddOn, maxName)...)
		errs = append(errs, tooLong(at.Child("version"), entry.Version, maxRange)...)
		errs = append(errs, validatePrereleases(entry.Prereleases, at.Child("prereleases").Child("identifiers"))...)
		if entry.API != nil {
			errs = append(errs, validateDependencyAPI(entry.API, at.Child("api"))...)
		}
		errs = append(errs, validateWhen(entry.When, at.Child("when"))...)
	}
	return errs
}

// validateCombination checks which fields exclude or need each other, with the
// messages of the schema's rules.
func validateCombination(entry addonv1alpha1.AddonDependency, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	refuse := func(child, value, why string) {
		errs = append(errs, field.Invalid(path.Child(child), text.Excerpt(value), why))
	}
	if entry.AddOn != "" && entry.API != nil {
		refuse("addOn", entry.AddOn, "an edge is on an add-on or on an API: set addOn or api, not both")
	}
	if entry.Version != "" && entry.API != nil {
		refuse("version", entry.Version, "version is a range for an add-on; the version of an API is api.version")
	}
	if entry.Type == addonv1alpha1.DependencyTypeConflicts && entry.API != nil {
		refuse("type", string(entry.Type), "type Conflicts is for an add-on, not for an API")
	}
	if entry.Prereleases != nil && entry.Version == "" {
		refuse("prereleases", "", "prereleases needs version")
	}
	if entry.Type == addonv1alpha1.DependencyTypeIfInstalled && entry.Version == "" && entry.AnyOf == nil {
		refuse("type", string(entry.Type), "type IfInstalled needs version: without a range it requires nothing")
	}
	return errs
}

func validatePrereleases(prereleases *addonv1alpha1.DependencyPrereleases, path *field.Path) field.ErrorList {
	if prereleases == nil {
		return nil
	}
	var errs field.ErrorList
	if len(prereleases.Identifiers) > maxIdentifiers {
		errs = append(errs, field.TooMany(path, len(prereleases.Identifiers), maxIdentifiers))
	}
	for i, identifier := range prereleases.Identifiers {
		if len(identifier) > maxIdentifier || !identifierForm.MatchString(identifier) {
			errs = append(errs, field.Invalid(path.Index(i), text.Excerpt(identifier),
				fmt.Sprintf(`must be one word of a prerelease, such as "beta", of at most %d letters, digits and hyphens`, maxIdentifier)))
		}
	}
	return errs
}

// validateDependencyAPI checks the API that an edge, or an alternative of one, is on.
func validateDependencyAPI(api *addonv1alpha1.DependencyAPI, path *field.Path) field.ErrorList {
	errs := validateAPI(api.AddonAPI, path)
	if by := api.ServedBy; by != "" && !slices.Contains(knownServers, by) {
		errs = append(errs, field.NotSupported(path.Child("servedBy"), by, knownServers))
	}
	return append(errs, validateFields(api.Fields, path.Child("fields"))...)
}

func validateAPI(api addonv1alpha1.AddonAPI, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(child, value string, form *regexp.Regexp, limit int, why string) {
		if len(value) > limit || !form.MatchString(value) {
			errs = append(errs, field.Invalid(path.Child(child), text.Excerpt(value), why))
		}
	}
	check("group", api.Group, groupForm, maxName, `must be an API group without its version, such as "apps"; empty is the core group`)
	check("version", api.Version, apiVersionForm, maxAPIName, `must be the version of an API, such as "v1beta1"`)
	if api.Kind == "" {
		return append(errs, field.Required(path.Child("kind"), "name the API's kind"))
	}
	check("kind", api.Kind, kindForm, maxAPIName, `must be a kind, such as "ClusterPermission"`)
	return errs
}

// validateFields checks the paths of the fields that the schema of an API must have.
func validateFields(paths []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(paths) > maxFields {
		errs = append(errs, field.TooMany(path, len(paths), maxFields))
	}
	for i, value := range paths {
		if len(value) > maxFieldPath || !fieldForm.MatchString(value) {
			errs = append(errs, field.Invalid(path.Index(i), text.Excerpt(value),
				fmt.Sprintf(`must be property names with dots between them, such as "spec.rules.verbs", of at most %d characters; `+
					`a path goes on into lists and maps without a sign of its own`, maxFieldPath)))
		}
	}
	return errs
}

func validateWhen(when *addonv1alpha1.DependencyWhen, path *field.Path) field.ErrorList {
	if when == nil {
		return nil
	}
	if when.ClusterSelector == nil && when.Expression == "" {
		return field.ErrorList{field.Required(path, "set clusterSelector, expression or both")}
	}
	return tooLong(path.Child("expression"), when.Expression, maxExpression)
}

func validateRequirements(required *addonv1alpha1.AddonRequirements, path *field.Path) field.ErrorList {
	if required == nil {
		return nil
	}
	errs := tooLong(path.Child("kubernetes"), required.Kubernetes, maxRange)
	errs = append(errs, tooLong(path.Child("ocm"), required.OCM, maxRange)...)
	errs = append(errs, tooLong(path.Child("interlock"), required.Interlock, maxRange)...)
	if len(required.Claims) > maxClaims {
		errs = append(errs, field.TooMany(path.Child("claims"), len(required.Claims), maxClaims))
	}
	for _, claim := range slices.Sorted(maps.Keys(required.Claims)) {
		value := string(required.Claims[claim])
		errs = append(errs, tooLong(path.Child("claims").Key(claim), value, maxRange)...)
		if value == "" {
			errs = append(errs, field.Required(path.Child("claims").Key(claim), "give a version range, or the claim's exact value"))
		}
	}
	return errs
}

func validateProvides(provides []addonv1alpha1.AddonAPI, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(provides) > maxProvides {
		errs = append(errs, field.TooMany(path, len(provides), maxProvides))
	}
	for i, api := range provides {
		errs = append(errs, validateAPI(api, path.Index(i))...)
	}
	return errs
}

func validateOrdering(ordering addonv1alpha1.Ordering, path *field.Path) field.ErrorList {
	if ordering == "" || slices.Contains(orderings, ordering) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, addonv1alpha1.Ordering(text.Excerpt(string(ordering))), orderings)}
}

var orderings = []addonv1alpha1.Ordering{addonv1alpha1.OrderingNone, addonv1alpha1.OrderingInstall, addonv1alpha1.OrderingInstallAndUpgrade}

func tooLong(path *field.Path, value string, limit int) field.ErrorList {
	if utf8.RuneCountInString(value) <= limit {
		return nil
	}
	return field.ErrorList{field.Invalid(path, text.Excerpt(value), fmt.Sprintf("must have at most %d characters", limit))}
}
