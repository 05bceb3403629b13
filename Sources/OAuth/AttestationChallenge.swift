/// A challenge that evidence, or a client's proof of possession, is made for: 1 to 1024 visible ASCII characters.
///
/// Source: draft-ietf-oauth-attestation-based-client-auth section 8; the limit is assumed.
public enum AttestationChallenge {
    /// The field of an answer that brings one.
    public static let field = "OAuth-Client-Attestation-Challenge"
    /// The longest challenge that is taken, in bytes.
    public static let limit = 1024

    /// The challenge an answer brings, from all its fields of that name.
    ///
    /// Nil where there is none, more than one, or one that is no challenge: a client then keeps what it has.
    public static func challenge(_ values: [String]) -> String? {
        guard values.count == 1, let value = values.first, isMade(value) else { return nil }
        return value
    }

    /// The challenge in the answer of a challenge endpoint; nil where the endpoint gives out DPoP nonces alone.
    ///
    /// Throws ``AnswerError`` for another status than 200, for a body that is no JSON object, and for a member that
    /// is no challenge.
    public static func challenge(
        status: Int, mediaType: String?, body: [UInt8]
    ) throws(AnswerError) -> String? {
        let members = try AnswerMembers(status: status, mediaType: mediaType, body: body)
        guard status == 200 else { throw .unexpectedStatus(status) }
        guard let challenge = try members.optionalString("attestation_challenge") else { return nil }
        guard isMade(challenge) else {
            throw .unusable(member: "attestation_challenge", rule: "it must be 1 to 1024 visible ASCII characters")
        }
        return challenge
    }

    private static func isMade(_ text: String) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
