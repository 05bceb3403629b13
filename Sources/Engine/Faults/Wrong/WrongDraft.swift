import Crypto
import Encoding
import HTTP
import JOSE
import Profiles
import Transport

/// What goes out in the place of a right request.
struct WrongDraft: Sendable {
    /// A right request that goes out first, its answer thrown away; nil for none.
    var ahead: ClientRequest?
    /// The request that is wrong, whose answer counts.
    var request: ClientRequest
}

/// What a phone has at hand when it does something wrong.
struct WrongIngredients: Sendable {
    /// The call.
    let place: WrongOnPurpose.Place
    let installKey: P256.PrivateKey
    let entropy: Entropy
    /// The wire's words for the signed ceremony and the calls that carry it.
    let profile: SenseCryptProfile
    /// A nonce of the other role: an API's for calls of the issuer, the issuer's for calls of an API.
    var nonceOfOtherRole: String?
    /// The key that signed the ceremony the request carries.
    var ceremonyKey: P256.PrivateKey?
    /// A code that was given to another client of the issuer.
    var codeOfAnotherClient: String?
    /// The refresh token that was spent by the last refresh of this session.
    var spentRefreshToken: String?
    /// Another phone that is enrolled at the issuer.
    var otherPhone: OtherPhone?

    /// The keys of another phone, as far as a relayed session needs them.
    struct OtherPhone: Sendable {
        let installKey: P256.PrivateKey
        let deviceKey: P256.PrivateKey
    }
}

/// Why a wrong cannot be done now: what it needs is not there.
struct WrongUnavailable: Error, Sendable, CustomStringConvertible {
    let wrong: WrongOnPurpose
    let why: String

    var description: String { "'\(wrong.rawValue)' cannot be done: \(why)" }
}

extension WrongOnPurpose {
    /// The request with this wrong in it.
    ///
    /// A pure function of its arguments and of chance. Throws where something it needs is not there, so that nothing
    /// right goes out under the name of a wrong.
    func altered(_ request: ClientRequest, _ ingredients: WrongIngredients) throws(WrongUnavailable) -> WrongDraft {
        guard applies(to: ingredients.place) else {
            throw unavailable("a call '\(ingredients.place.rawValue)' has no place for it")
        }
        if let proofs = try proofs(in: request, ingredients) {
            var altered = request
            altered.fields.replace("DPoP", with: proofs)
            return WrongDraft(request: altered)
        }
        switch self {
        case .asBearer: return WrongDraft(request: try bearer(request))
        case .replayedProof: return WrongDraft(ahead: request, request: request)
        case .codeTwice: return WrongDraft(ahead: request, request: try freshlyProved(request, ingredients))
        case .replayedCeremony:
            var again = try freshlyProved(request, ingredients)
            again.body = try form(of: again, ingredients)
            return WrongDraft(ahead: request, request: again)
        case .relayedSession, .relayedSessionOtherUser:
            return WrongDraft(request: try relayed(request, ingredients))
        default:
            var altered = request
            altered.body = try isAboutCeremony ? ceremonyBody(of: request, ingredients) : form(of: request, ingredients)
            return WrongDraft(request: altered)
        }
    }

    /// An error that says what is missing.
    func unavailable(_ why: String) -> WrongUnavailable { WrongUnavailable(wrong: self, why: why) }

    /// The request with a DPoP proof of its own, not used before.
    func freshlyProved(
        _ request: ClientRequest, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) -> ClientRequest {
        var parts = try proof(of: request)
        parts.claims["jti"] = .string(ingredients.entropy.token(16))
        var fresh = request
        fresh.fields.replace("DPoP", with: [try signed(parts, by: ingredients.installKey, ingredients)])
        return fresh
    }

    /// RFC 9449 section 7.2: a bound token must not be taken as a bearer's.
    private func bearer(_ request: ClientRequest) throws(WrongUnavailable) -> ClientRequest {
        guard let value = request.fields["Authorization"], value.hasPrefix("DPoP ") else {
            throw unavailable("the request carries no bound token")
        }
        var altered = request
        altered.fields.replace("Authorization", with: ["Bearer " + value.dropFirst(5)])
        altered.fields.replace("DPoP", with: [])
        return altered
    }
}

/// A compact JWS taken apart, so that one part of it can be made wrong.
struct JWSParts: Sendable {
    var header: JSONObject
    var claims: JSONObject

    /// Nil where the text is no JWS with a JSON object in it.
    init?(_ compact: String) {
        guard let jws = try? JWS(compact: compact), let claims = (try? JSON(parsing: jws.payload))?.object else {
            return nil
        }
        header = jws.header
        self.claims = claims
    }

    var signingInput: String { JWS.signingInput(header: header, payload: JSON.object(claims).serialized()) }
}

extension WrongOnPurpose {
    /// The parts put together and signed as they should be.
    func signed(
        _ parts: JWSParts, by key: P256.PrivateKey, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) -> String {
        let input = parts.signingInput
        return JWS.assemble(signingInput: input, signature: try signature(of: input, by: key, ingredients))
    }

    /// The 64 bytes of a right signature.
    func signature(
        of input: String, by key: P256.PrivateKey, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) -> [UInt8] {
        do {
            return try key.sign(Array(input.utf8), nonce: ingredients.entropy.signingNonce)
        } catch {
            throw unavailable("the key does not sign: \(error.code)")
        }
    }

    /// A key made for this one wrong.
    func throwaway(_ ingredients: WrongIngredients) throws(WrongUnavailable) -> P256.PrivateKey {
        do {
            return try P256.PrivateKey.generate(ingredients.entropy)
        } catch {
            throw unavailable("no key can be made: \(error.code)")
        }
    }
}

extension HTTPFields {
    /// Puts these values in the place of every field of a name.
    mutating func replace(_ name: String, with values: [String]) {
        remove(name)
        for value in values { append(name, value) }
    }
}
