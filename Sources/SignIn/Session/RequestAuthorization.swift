public import JOSE

/// What one attempt at an API request carries: the bound token, and a proof still to be signed.
public struct RequestAuthorization: Sendable {
    private let accessToken: String
    /// The proof to sign with the install key.
    public let proof: DPoPProof

    init(accessToken: String, proof: DPoPProof) {
        self.accessToken = accessToken
        self.proof = proof
    }

    /// The header fields, in the order they are sent, given the signed proof (RFC 9449 section 7.1).
    public func fields(signedProof: String) -> [(name: String, value: String)] {
        [("Authorization", "DPoP " + accessToken), ("DPoP", signedProof)]
    }
}

extension RequestAuthorization: CustomStringConvertible, CustomReflectable {
    /// Method and URL, never the token.
    public var description: String { "authorization for \(proof.method) \(proof.url)" }

    /// Hides the token from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["authorization": description]) }
}
