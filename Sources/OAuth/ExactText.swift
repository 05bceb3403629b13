extension String {
    /// Whether two texts are the same bytes.
    ///
    /// `==` on strings also accepts canonically equivalent spellings, while issuers, audiences and nonces are
    /// compared code point by code point (RFC 8414 section 4, OIDC Core section 2).
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
