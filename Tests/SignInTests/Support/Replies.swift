import Crypto
import Encoding
import JOSE
import SignIn

/// Answers of a server, good and bad.
enum Replies {
    static func json(_ status: Int, _ body: JSON, nonce: String? = nil, retryAfter: String? = nil) -> CallResponse {
        CallResponse(
            status: status, mediaType: "application/json", retryAfter: retryAfter, dpopNonce: nonce,
            body: body.serialized())
    }

    static func error(_ status: Int, _ code: String, nonce: String? = nil) -> CallResponse {
        json(status, ["error": .string(code)], nonce: nonce)
    }

    static let html = CallResponse(status: 200, mediaType: "text/html", body: Array("<p>hello</p>".utf8))
    static let nonceWanted = error(400, "use_dpop_nonce", nonce: "fresh-nonce")

    static let attestationChallenge = json(200, ["attestation_challenge": "challenge-of-evidence"], nonce: "n0")
    static let noAttestationChallenge = json(200, ["a_member_of_tomorrow": true], nonce: "n0")
    static let evidenceWanted = asking(error(400, "attestation_required"))
    static let challengeStale = asking(error(400, "use_attestation_challenge"))
    static let evidenceBad = asking(error(400, "attestation_failed"))

    /// A refusal that brings a challenge for better evidence.
    static func asking(_ refusal: CallResponse, for challenge: String = "challenge-of-refusal") -> CallResponse {
        var refusal = refusal
        refusal.attestationChallenge = challenge
        return refusal
    }

    static let challenge: JSON = [
        "error": "insufficient_authorization", "auth_session": .string(Secret.session), "expires_in": 300,
        "ceremony": ["id": "ceremony-1", "challenge": "challenge-1"],
    ]
    static let started = json(403, challenge, nonce: "n1")

    static let noFacePKI: JSON = ["enabled": false, "tenant_scope": false, "classes": []]
    static let facePKI: JSON = ["enabled": true, "tenant_scope": true, "classes": ["p256-ecdsa", "p256-dhkem"]]

    static func faceToken(
        attemptsLeft: Int64 = 3, passwordProtected: Bool = false, generation: Int64 = 3,
        sealed: [UInt8] = Phone.shared.sealed, pki: JSON = Replies.noFacePKI
    ) -> CallResponse {
        json(
            200,
            [
                "face_token": .string(Base64URL.encode(sealed)), "generation": .int(generation),
                "password_protected": .bool(passwordProtected), "liveness_required": true,
                "attempts_left": .int(attemptsLeft), "pki": pki,
                "a_member_of_tomorrow": [1, 2, 3],
            ])
    }

    static func attemptsLeft(_ count: Int64) -> CallResponse { json(200, ["attempts_left": .int(count)]) }

    static func code(_ code: String = Secret.code) -> CallResponse {
        json(200, ["authorization_code": .string(code)], nonce: "n2")
    }

    static let aborted = CallResponse(status: 204, mediaType: nil, body: [])
    static let revoked = CallResponse(status: 200, mediaType: nil, body: [])

    static func accessToken(jkt: String? = Phone.shared.thumbprint) throws -> String {
        var claims = JSONObject([("iss", .string(Phone.issuer)), ("sub", "user-1")])
        if let jkt { claims["cnf"] = ["jkt": .string(jkt)] }
        return try JWS.sign(
            header: JSONObject([("typ", "at+jwt"), ("alg", "ES256")]), payload: JSON.object(claims).serialized(),
            key: Phone.shared.server, nonce: .rfc6979)
    }

    static func idToken(_ changes: [String: JSON] = [:]) throws -> String {
        var claims = JSONObject([
            ("iss", .string(Phone.issuer)), ("sub", "user-1"), ("aud", "app_demo"),
            ("nonce", .string(Phone.shared.secrets.nonce)), ("iat", .int(Phone.now.seconds)),
            ("exp", .int(Phone.now.seconds + 3600)), ("email", "ada@acme.example"),
        ])
        for (name, value) in changes { claims[name] = value == .null ? JSON?.none : value }
        return try JWS.sign(
            header: JSONObject([("alg", "ES256")]), payload: JSON.object(claims).serialized(),
            key: Phone.shared.server, nonce: .rfc6979)
    }

    /// The good answer of a token endpoint, made once since signing takes time.
    static let goodTokens: CallResponse = {
        do { return try tokens() } catch { preconditionFailure("the fixture cannot be made: \(error)") }
    }()

    /// An answer whose tokens are not bound.
    static let bearerTokens: CallResponse = {
        do { return try tokens(["token_type": "Bearer"]) } catch {
            preconditionFailure("the fixture cannot be made: \(error)")
        }
    }()

    static func tokens(_ changes: [String: JSON] = [:]) throws -> CallResponse {
        var body = JSONObject([
            ("access_token", .string(try accessToken())), ("token_type", "DPoP"), ("expires_in", 300),
            ("id_token", .string(try idToken())), ("scope", "openid email offline_access"),
            ("refresh_token", .string(Secret.refreshToken)),
        ])
        for (name, value) in changes { body[name] = value == .null ? JSON?.none : value }
        return json(200, .object(body))
    }
}

/// Values that must never show in a description.
enum Secret {
    static let session = "secret-auth-session-0123456789-0123456789-0123456789"
    static let code = "secret-code"
    static let refreshToken = "secret-refresh-token"
    static let proof = "secret.ceremony.proof"
    static let evidence = "c2VjcmV0LWV2aWRlbmNl"
    static let all = [
        evidence, session, code, refreshToken, proof, Phone.shared.secrets.codeVerifier, Phone.shared.secrets.nonce,
    ]
}
