import Crypto
import Encoding
import Engine
import HTTP
import JOSE
import SignIn
import Transport

/// Client assertions, sent with starts of a confidential client of the run's own; needs the management API.
extension Row {
    static let assertions: [Row] = [
        assertion("client.assertion.missing", "RFC 7523 3, wire 12", "a confidential client brings an assertion") {
            $0.isLeftOut = true
        },
        Row("client.assertion.unexpected", "wire 12", "a public client brings none") {
            lab, score async throws(ProbeFault) in
            let client = try await lab.confidentialClient()
            let answer = try await lab.start { form in
                form.append("client_assertion_type", ClientAssertionDraft.type)
                form.append("client_assertion", client.good(lab, as: lab.setup.clientID))
            }
            score.refused("an assertion of the public client", answer, [401], ["invalid_client", "invalid_request"])
        },
        assertion("client.assertion.type", "RFC 7523 2.2", "client_assertion_type is that of a JWT") {
            $0.assertionType = "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
        },
        assertion("client.assertion.alg", "FAPI 2.0 5.4.1, wire 12", "the assertion is ES256 or PS256") {
            $0.header["alg"] = "none"
        },
        assertion("client.assertion.kid", "RFC 7515 4.1.4, wire 12", "the assertion names a registered key") {
            $0.header["kid"] = "conform-no-such-key"
        },
        assertion("client.assertion.signature", "RFC 7523 3 (9)", "the assertion is signed by the client's key") {
            $0.isFlipped = true
        },
        assertion("client.assertion.iss", "RFC 7523 3 (1)", "iss is the client") {
            $0.claims["iss"] = "conform-another"
        },
        assertion("client.assertion.sub", "RFC 7523 3 (2)", "sub is the client") {
            $0.claims["sub"] = "conform-another"
        },
        assertion("client.assertion.aud", "FAPI 2.0 5.3.2.1, wire 12", "aud is the issuer, as a string") { draft in
            draft.claims["aud"] = .array([draft.claims["aud"] ?? .null])
        },
        assertion("client.assertion.exp", "RFC 7523 3 (4)", "the assertion is in time") { draft in
            draft.claims["exp"] = .int((draft.claims["iat"]?.int ?? 0) - 120)
        },
        assertion("client.assertion.iat", "FAPI 2.0 5.3.2.1", "iat is not far ahead") { draft in
            let iat = draft.claims["iat"]?.int ?? 0
            draft.claims["iat"] = .int(iat + 120)
            draft.claims["exp"] = .int(iat + 180)
        },
        assertion("client.assertion.nbf", "RFC 7523 3 (5)", "nbf is not far ahead") { draft in
            draft.claims["nbf"] = .int((draft.claims["iat"]?.int ?? 0) + 120)
        },
        Row("client.assertion.jti", "RFC 7523 3 (7), FAPI 2.0 5.3.2.1", "an assertion is good once") {
            lab, score async throws(ProbeFault) in
            let client = try await lab.confidentialClient()
            let assertion = client.good(lab, as: client.id)
            for probe in ["an assertion", "the same assertion"] {
                let answer = try await lab.start(of: client, assertion: assertion)
                if probe == "an assertion" {
                    score.accepted(probe, answer)
                } else {
                    score.refused(probe, answer, [401], ["invalid_client"])
                }
            }
        },
    ]

    private static func assertion(
        _ rule: String, _ source: String, _ wanted: String,
        _ edit: @escaping @Sendable (inout ClientAssertionDraft) -> Void
    ) -> Row {
        Row(rule, source, wanted) { lab, score async throws(ProbeFault) in
            let client = try await lab.confidentialClient()
            var draft = client.draft(lab, as: client.id)
            edit(&draft)
            let assertion = draft.isLeftOut ? nil : draft.compact(client.key, lab.setup.entropy)
            let answer = try await lab.start(of: client, assertion: assertion, type: draft.assertionType)
            score.refused("a start with it", answer, [401], ["invalid_client"])
        }
    }
}

/// A confidential client of the run's own.
struct ConfidentialClient: Sendable {
    let id: String
    let key: P256.PrivateKey

    /// A good assertion that can be altered.
    func draft(_ lab: Lab, as client: String) -> ClientAssertionDraft {
        ClientAssertionDraft(
            header: JSONObject([
                ("typ", "JWT"), ("alg", "ES256"), ("kid", .string(JWK.p256(key.publicKey).thumbprint)),
            ]),
            claims: JSONObject([
                ("iss", .string(client)), ("sub", .string(client)), ("aud", .string(lab.issuer)),
                ("iat", .int(lab.now.seconds)), ("exp", .int(lab.now.seconds + 60)),
                ("jti", .string(lab.setup.entropy.token(16))),
            ]))
    }

    /// A good assertion.
    func good(_ lab: Lab, as client: String) -> String { draft(lab, as: client).compact(key, lab.setup.entropy) }
}

/// An assertion before it is signed.
struct ClientAssertionDraft: Sendable {
    /// The `client_assertion_type` of a JWT (RFC 7523 section 2.2).
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    var header: JSONObject
    var claims: JSONObject
    var assertionType = Self.type
    /// Whether it is not sent at all.
    var isLeftOut = false
    /// Whether a bit of the signature is turned.
    var isFlipped = false

    func compact(_ key: P256.PrivateKey, _ entropy: Entropy) -> String {
        let input = JWS.signingInput(header: header, payload: JSON.object(claims).serialized())
        var signature = (try? key.sign(Array(input.utf8), nonce: entropy.signingNonce)) ?? []
        if isFlipped, let first = signature.first { signature[0] = first ^ 1 }
        return JWS.assemble(signingInput: input, signature: signature)
    }
}

extension Lab {
    /// The run's confidential client, registered once.
    func confidentialClient() async throws(ProbeFault) -> ConfidentialClient {
        if let client = made.confidential { return client }
        let key = try own("a client's key") { try P256.PrivateKey.generate(setup.entropy) }
        let jwks = JWKSet([
            JWKSet.Entry(
                keyID: JWK.p256(key.publicKey).thumbprint, key: .p256(key.publicKey), algorithm: .es256)
        ])
        let id = try await newClient([("token_endpoint_auth_method", "private_key_jwt"), ("jwks", jwks.json)])
        let client = ConfidentialClient(id: id, key: key)
        let answer = try await start(of: client, assertion: client.good(self, as: id))
        guard answer.isAccepted else {
            throw .broken("a confidential client's good start was answered \(answer.summary)")
        }
        made.confidential = client
        return client
    }

    /// A start of a confidential client.
    func start(
        of client: ConfidentialClient, assertion: String?, type: String = ClientAssertionDraft.type
    ) async throws(ProbeFault) -> Answer {
        let call = try await ProbeFlow(self, clientID: client.id).advance(to: .start)
        return try await fire(
            try request(call) { form in
                guard let assertion else { return }
                form.append("client_assertion_type", type)
                form.append("client_assertion", assertion)
            })
    }
}
