// The ReferenceIdP layer.
