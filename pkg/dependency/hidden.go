package dependency

// HoldUndeclared holds the verdicts of every add-on that declares nothing by
// annotation and nothing by field: for hubs whose CRD lacks the field just now,
// so that nobody knows what it declares. It changes the catalog and is to be
// called before anybody else has it.
func (c *Catalog) HoldUndeclared() {
	for addOn, declaration := range c.declarations {
		if declaration.Empty() && declaration.Path == fieldPath.String() {
			declaration.Invalid = true
			c.declarations[addOn] = declaration
			// The next catalog is not to take over what is only held.
			delete(c.sources, addOn)
		}
	}
}
