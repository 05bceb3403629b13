public import ReferenceIdP

/// A reference IdP of this process, which can be saved and put back.
public protocol IdPHost: Sendable {
    /// Where it is.
    var served: ServedIdP { get }
    /// The name its records go by.
    var name: String { get }
    /// The IdP as it is now; another one after it was put back.
    var idp: ReferenceIdPServer { get }

    /// Goes on from records, or with none from its seed, with the findings and the memory of proofs empty.
    ///
    /// Throws where the records are damaged; the IdP is then what it was.
    func restart(from records: [RecordChange]) throws
}
