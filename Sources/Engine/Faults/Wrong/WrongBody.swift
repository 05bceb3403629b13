import Crypto
import Encoding
import HTTP
import JOSE
import Profiles
import Transport

/// Forms with one parameter wrong.
extension WrongOnPurpose {
    func form(of request: ClientRequest, _ ingredients: WrongIngredients) throws(WrongUnavailable) -> [UInt8] {
        guard let form = try? FormFields(decoding: request.body) else { throw unavailable("the body is no form") }
        switch self {
        case .dpopJKTOther:
            return form.with("dpop_jkt", JWK.p256(try throwaway(ingredients).publicKey).thumbprint).encoded()
        case .codeOther: return form.with("code", ingredients.entropy.token(32)).encoded()
        case .codeOfAnotherClient:
            guard let code = ingredients.codeOfAnotherClient else {
                throw unavailable("no other client of the issuer was given a code that is not redeemed")
            }
            return form.with("code", code).encoded()
        case .verifierWrong: return form.with("code_verifier", ingredients.entropy.token(32)).encoded()
        case .verifierMissing: return form.with("code_verifier", nil).encoded()
        case .clientOther: return form.with("client_id", (form["client_id"] ?? "") + "-other").encoded()
        case .noCodeChallenge:
            return form.with("code_challenge", nil).with("code_challenge_method", nil).encoded()
        case .sessionInvented: return form.with("auth_session", ingredients.entropy.token(32)).encoded()
        case .refreshTokenOther: return form.with("refresh_token", ingredients.entropy.token(32)).encoded()
        case .refreshTokenOld:
            guard let old = ingredients.spentRefreshToken else {
                throw unavailable("this session was not refreshed yet, or the server does not rotate")
            }
            return form.with("refresh_token", old).encoded()
        case .faceTokenAltered, .replayedCeremony:
            let name = ingredients.profile.members.challengeForm.faceToken
            guard var bytes = form[name].flatMap({ try? Base64URL.decode($0) }), let last = bytes.last else {
                throw unavailable("the form carries no face token")
            }
            bytes[bytes.count - 1] = last ^ 1
            return form.with(name, Base64URL.encode(bytes)).encoded()
        default: throw unavailable("nothing is known of it")
        }
    }
}

/// Signed ceremonies with one thing wrong.
extension WrongOnPurpose {
    /// Whether this is about the signed ceremony in the body.
    var isAboutCeremony: Bool {
        switch self {
        case .ashWrong, .challengeWrong, .ceremonyOther, .ceremonyJKTOther, .generationOld, .ceremonyOtherKey,
            .ceremonyFlippedBit, .ceremonyDER, .ceremonyAlgNone, .ceremonyTypOther, .ceremonyActOther,
            .ceremonyAudienceOther, .ceremonyIatOld, .ceremonyIatFuture:
            true
        default: false
        }
    }

    func ceremonyBody(of request: ClientRequest, _ ingredients: WrongIngredients) throws(WrongUnavailable) -> [UInt8] {
        let body = try CeremonyBody(request, of: self, ingredients.profile.members)
        var parts = body.ceremony
        var key = ingredients.ceremonyKey
        if self == .ceremonyOtherKey {
            let other = try throwaway(ingredients)
            parts.header["kid"] = .string(JWK.p256(other.publicKey).thumbprint)
            key = other
        }
        guard let key else { throw unavailable("the key of the ceremony is not here") }
        try alter(&parts, ingredients)
        let input = parts.signingInput
        guard self != .ceremonyAlgNone else { return body.with(input + ".") }
        return body.with(
            JWS.assemble(signingInput: input, signature: try ceremonySignature(of: input, by: key, ingredients)))
    }

    private func alter(_ parts: inout JWSParts, _ ingredients: WrongIngredients) throws(WrongUnavailable) {
        let invented = CeremonyText.like(43, ingredients.entropy)
        let iat = parts.claims["iat"]?.int ?? 0
        let name = ingredients.profile.ceremony.claims
        switch self {
        case .ashWrong: parts.claims[name.authSessionHash] = .string(invented)
        case .challengeWrong: parts.claims[name.challenge] = .string(invented)
        case .ceremonyJKTOther: parts.claims[name.installThumbprint] = .string(invented)
        case .ceremonyOther: parts.claims[name.ceremony] = .string(ingredients.entropy.token(16))
        case .ceremonyAlgNone: parts.header["alg"] = "none"
        case .ceremonyTypOther: parts.header["typ"] = "JWT"
        case .ceremonyActOther:
            let acts = ingredients.profile.ceremony.acts
            let other = parts.claims[name.act]?.string == acts.faceToken ? acts.abort : acts.faceToken
            parts.claims[name.act] = .string(other)
        case .ceremonyAudienceOther:
            parts.claims["aud"] = .string((parts.claims["aud"]?.string ?? "") + "-other")
        case .ceremonyIatOld: parts.claims["iat"] = .int(iat - 86_400)
        case .ceremonyIatFuture: parts.claims["iat"] = .int(iat + 3600)
        case .generationOld:
            guard let generation = parts.claims[name.generation]?.int, generation > 1 else {
                throw unavailable("the face token is of the first generation; sign in once before")
            }
            parts.claims[name.generation] = .int(generation - 1)
        default: break
        }
    }
}

/// A session another phone goes on with.
extension WrongOnPurpose {
    func relayed(_ request: ClientRequest, _ ingredients: WrongIngredients) throws(WrongUnavailable) -> ClientRequest {
        guard let other = ingredients.otherPhone else {
            let whose = self == .relayedSession ? "of the same user" : "of another user"
            throw unavailable("this engine has no other phone \(whose) at the issuer")
        }
        let body = try CeremonyBody(request, of: self, ingredients.profile.members)
        var parts = body.ceremony
        parts.header["kid"] = .string(JWK.p256(other.deviceKey.publicKey).thumbprint)
        parts.claims[ingredients.profile.ceremony.claims.installThumbprint] = .string(
            JWK.p256(other.installKey.publicKey).thumbprint)
        parts.claims["jti"] = .string(ingredients.entropy.token(16))
        var altered = request
        altered.body = body.with(try signed(parts, by: other.deviceKey, ingredients))
        guard request.fields.contains("DPoP") else { return altered }
        var proof = try proof(of: request)
        proof.header["jwk"] = JWK.p256(other.installKey.publicKey).json
        proof.claims["jti"] = .string(ingredients.entropy.token(16))
        altered.fields.replace("DPoP", with: [try signed(proof, by: other.installKey, ingredients)])
        return altered
    }
}

/// A body with a signed ceremony in it: a form (`ceremony_proof`), or a JSON object (`request`).
private struct CeremonyBody {
    let ceremony: JWSParts
    private let form: FormFields?
    private let names: SenseCryptProfile.Members

    init(
        _ request: ClientRequest, of wrong: WrongOnPurpose, _ names: SenseCryptProfile.Members
    ) throws(WrongUnavailable) {
        self.names = names
        form =
            request.fields["Content-Type"]?.hasPrefix("application/json") == true
            ? nil : try? FormFields(decoding: request.body)
        let compact =
            form?[names.challengeForm.ceremonyProof]
            ?? (try? JSON(parsing: request.body))?[names.ceremonyRequest.request]?.string
        guard let parts = compact.flatMap(JWSParts.init) else {
            throw wrong.unavailable("the request carries no signed ceremony")
        }
        ceremony = parts
    }

    /// The body with another ceremony in its place.
    func with(_ compact: String) -> [UInt8] {
        form?.with(names.challengeForm.ceremonyProof, compact).encoded()
            ?? JSON.object([(names.ceremonyRequest.request, .string(compact))]).serialized()
    }
}

private enum CeremonyText {
    /// Base64url of so many characters.
    static func like(_ count: Int, _ entropy: Entropy) -> String {
        String(entropy.token(count).prefix(count))
    }
}

extension FormFields {
    /// The form with this value of a parameter, or without it.
    func with(_ name: String, _ value: String?) -> FormFields {
        var pairs = self.pairs.filter { $0.name != name || value != nil }.map {
            ($0.name, $0.name == name ? value ?? "" : $0.value)
        }
        if let value, self[name] == nil { pairs.append((name, value)) }
        return FormFields(pairs)
    }
}
