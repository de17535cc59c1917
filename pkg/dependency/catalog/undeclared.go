package catalog

import "open-cluster-management.io/interlock/pkg/dependency/declaration"

// HoldUndeclared holds the verdicts of every add-on that declares nothing by
// annotation and nothing by field: for hubs whose CRD lacks the field for now,
// so that what it declares is not known. It changes the catalog and must be
// called before anything else has it.
func (c *Catalog) HoldUndeclared() {
	for addOn, declared := range c.declarations {
		if declared.Empty() && declared.Path == declaration.FieldPath.String() {
			declared.Invalid = true
			c.declarations[addOn] = declared
			// The next catalog is not to take over what is only held.
			delete(c.sources, addOn)
		}
	}
}
