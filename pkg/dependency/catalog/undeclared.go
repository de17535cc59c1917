package catalog

import "open-cluster-management.io/interlock/pkg/dependency/declaration"

// WithoutFields returns the catalog for a hub whose CRD lacks the fields for now.
// What an add-on without an annotation declares is then not known.
func (c *Catalog) WithoutFields() *Catalog {
	without := *c
	without.fieldsUnread = true
	return &without
}

// Known reports whether it is known what the add-on declares. Where it is not,
// the verdicts of the add-on stay as they are: its declaration cannot be used, or
// it declares nothing while fields cannot be read.
func (c *Catalog) Known(addOn string) bool {
	declared, registered := c.declarations[addOn]
	undeclared := registered && declared.Empty() && declared.Path == declaration.FieldPath.String()
	unread := c.fieldsUnread && undeclared
	return !declared.Invalid && !unread
}
