// Package versions reads versions of add-ons and platforms, and ranges of them.
package versions

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Source says where the version of an add-on comes from.
type Source string

// The sources, in the order in which they count.
const (
	// FromLease: the add-on's agent reports it on its lease.
	FromLease Source = "its agent's lease"
	// FromTemplate: the AddOnTemplate that runs on the cluster.
	FromTemplate Source = "its AddOnTemplate"
	// FromAddOn: the annotation of the ManagedClusterAddOn.
	FromAddOn Source = "its ManagedClusterAddOn"
	// FromRegistration: the annotation of the ClusterManagementAddOn.
	FromRegistration Source = "its ClusterManagementAddOn"
)

// Annotations lists the annotations that report a version: the key of today, and
// the one of before.
var Annotations = []string{addonv1alpha1.AddOnVersionAnnotation, addonv1alpha1.FormerVersionAnnotation}

// OCM is the value that means the version of Open Cluster Management on the hub: that of
// an add-on that is released with it.
const OCM = "@ocm"

// MaxLength is how long a version may be, in bytes.
const MaxLength = semver.MaxVersionLen

// MaxRange is how long a range of versions may be, in characters.
const MaxRange = 256

// Version is the version of an add-on; the zero value where none is known.
type Version struct {
	Number string
	Source Source
	// Former: it is reported with the annotation's former key.
	Former bool
	// RollingOut is the version that is about to replace it; empty where none
	// is known.
	RollingOut string
	// OCM: the source names the version of Open Cluster Management, which Number has;
	// empty where that is not known.
	OCM bool
}

// Annotated is the version in the annotations of one object.
type Annotated struct {
	// Current has the annotation's key of today, Former the one of before.
	Current, Former string
}

// In reads the version in the annotations of an object.
func In(annotations map[string]string) Annotated {
	return Annotated{
		Current: annotations[addonv1alpha1.AddOnVersionAnnotation],
		Former:  annotations[addonv1alpha1.FormerVersionAnnotation],
	}
}

// OfTemplate is the version of one AddOnTemplate: its annotation, else its label.
func OfTemplate(annotations, labels map[string]string) string {
	if version := strings.TrimSpace(annotations[addonv1alpha1.AddOnVersionAnnotation]); version != "" {
		return version
	}
	return labels[addonv1alpha1.TemplateVersionLabel]
}

// Templates are the versions of the AddOnTemplates of one add-on on one
// managed cluster. The zero value is that of an add-on without a template.
type Templates struct {
	// Name is the template that runs on the cluster, Next another that is being rolled out
	// there.
	Name string `json:"name,omitempty"`
	Next string `json:"next,omitempty"`
	// Running is the version of the template that runs on the cluster.
	Running string `json:"running,omitempty"`
	// RollingOut is the version of another template that is being rolled out there.
	RollingOut string `json:"rollingOut,omitempty"`
	// Unknown: which version runs is not known now, but will be: the templates could
	// not be read yet, or a rollout has begun and OCM does not say from which.
	Unknown bool `json:"unknown,omitempty"`
}

// Sources are the versions of one add-on on one managed cluster, by source.
type Sources struct {
	Lease, AddOn, Registration Annotated
	Template                   Templates
	// OCM is the version of Open Cluster Management on the hub; empty: not known.
	OCM string
}

// UseOCM reports whether a source names the version of Open Cluster Management.
func (s Sources) UseOCM() bool {
	return slices.ContainsFunc([]string{
		s.Lease.Current, s.Template.Running, s.Template.RollingOut, s.AddOn.Current, s.Registration.Current,
		s.Lease.Former, s.AddOn.Former, s.Registration.Former,
	}, func(version string) bool { return strings.TrimSpace(version) == OCM })
}

// Running picks the version that counts: that of the lease of the add-on's
// agent, else of its AddOnTemplate, else of its ManagedClusterAddOn, else of its
// ClusterManagementAddOn. Former keys come last. An annotation of blanks is none.
func Running(sources Sources) Version {
	for _, candidate := range []Version{
		{Number: sources.Lease.Current, Source: FromLease},
		{Number: sources.Template.Running, Source: FromTemplate, RollingOut: sources.Template.RollingOut},
		{Number: sources.AddOn.Current, Source: FromAddOn},
		{Number: sources.Registration.Current, Source: FromRegistration},
		{Number: sources.Lease.Former, Source: FromLease, Former: true},
		{Number: sources.AddOn.Former, Source: FromAddOn, Former: true},
		{Number: sources.Registration.Former, Source: FromRegistration, Former: true},
	} {
		if candidate.Number = strings.TrimSpace(candidate.Number); candidate.Number == "" {
			continue
		}
		if candidate.RollingOut = strings.TrimSpace(candidate.RollingOut); candidate.RollingOut == OCM {
			candidate.RollingOut = sources.OCM
		}
		if candidate.OCM = candidate.Number == OCM; candidate.OCM {
			candidate.Number = sources.OCM
		}
		if candidate.RollingOut == candidate.Number {
			candidate.RollingOut = ""
		}
		return candidate
	}
	return Version{}
}

// Parse reads the number. What a vendor appends to the version of Open Cluster
// Management does not count.
func (v Version) Parse() (*semver.Version, error) {
	if v.OCM {
		return ParsePlatform(v.Number)
	}
	return semver.NewVersion(v.Number)
}

// Annotation is the annotation that reports the version. A label has room for none
// that is too long.
func (v Version) Annotation() string {
	if v.Former {
		return addonv1alpha1.FormerVersionAnnotation
	}
	return addonv1alpha1.AddOnVersionAnnotation
}
