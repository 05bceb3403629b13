import Encoding

/// A piece of evidence as it was sent: readable, not believed.
struct Evidence: Sendable, Hashable {
    /// What is sent for each format.
    enum Body: Sendable, Hashable {
        case appAttest(keyID: String?, attestation: [UInt8])
        case appAttestAssertion(keyID: String?, assertion: [UInt8])
        case androidKey(chain: [[UInt8]])
        case playIntegrity(token: String, isClassic: Bool)
    }

    /// The five formats by their names on the wire.
    enum Format: String, Sendable, CaseIterable {
        case appAttest = "apple-appattest"
        case appAttestAssertion = "apple-appattest-assertion"
        case androidKey = "android-key"
        case playIntegrityClassic = "play-integrity-classic"
        case playIntegrity = "play-integrity"
    }

    let format: Format
    let challenge: String?
    let body: Body

    /// The App Attest key it speaks of, as it was written.
    var keyID: String? {
        switch body {
        case .appAttest(let keyID, _), .appAttestAssertion(let keyID, _): keyID
        case .androidKey, .playIntegrity: nil
        }
    }
}

/// Why something is no piece of evidence.
struct EvidenceFault: Error, Sendable, Hashable {
    let rule: String
    let expected: String
    let actual: String

    init(_ rule: String, expected: String, actual: String) {
        self.rule = "attestation.\(rule)"
        self.expected = expected
        self.actual = Clipped.text(actual)
    }
}

extension Evidence {
    /// Reads the object of the wire; of an unknown member it takes no notice.
    init(_ json: JSON) throws(EvidenceFault) {
        guard let object = json.object else {
            throw EvidenceFault("format", expected: "an object", actual: json.kind)
        }
        let name = try Self.text("format", object)
        guard let format = Format(rawValue: name) else {
            let known = Format.allCases.map(\.rawValue).joined(separator: ", ")
            throw EvidenceFault("format", expected: "one of \(known)", actual: name)
        }
        self.format = format
        challenge = object["challenge"] == nil ? nil : try Self.text("challenge", object)
        switch format {
        case .appAttest:
            let bytes = try Self.bytes("attestation", object)
            body = .appAttest(keyID: try Self.text("key_id", object), attestation: bytes)
        case .appAttestAssertion:
            let bytes = try Self.bytes("assertion", object)
            body = .appAttestAssertion(keyID: try Self.text("key_id", object), assertion: bytes)
        case .androidKey:
            body = .androidKey(chain: try Self.chain(object))
        case .playIntegrity, .playIntegrityClassic:
            body = .playIntegrity(
                token: try Self.text("token", object), isClassic: format == .playIntegrityClassic)
        }
    }

    private static func text(_ name: String, _ object: JSONObject) throws(EvidenceFault) -> String {
        guard let text = object[name]?.string, !text.isEmpty else {
            throw EvidenceFault("format", expected: "a string \(name)", actual: object[name]?.kind ?? "nothing")
        }
        return text
    }

    private static func bytes(_ name: String, _ object: JSONObject) throws(EvidenceFault) -> [UInt8] {
        guard let bytes = try? Base64URL.decode(try text(name, object)) else {
            throw EvidenceFault("format", expected: "\(name) in base64url", actual: "something else")
        }
        return bytes
    }

    private static func chain(_ object: JSONObject) throws(EvidenceFault) -> [[UInt8]] {
        var chain: [[UInt8]] = []
        for member in object["x5c"]?.array ?? [] {
            guard let text = member.string, let der = try? Base64.decode(text) else {
                throw EvidenceFault("format", expected: "x5c of base64 certificates", actual: "something else")
            }
            chain.append(der)
        }
        guard !chain.isEmpty else {
            throw EvidenceFault("format", expected: "x5c of certificates", actual: "nothing")
        }
        return chain
    }
}
