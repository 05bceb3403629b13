import Crypto
import Encoding
import HTTP
import JOSE
import Transport

/// DPoP proofs with one thing wrong, each otherwise as the phone would make it (RFC 9449 section 4).
extension WrongOnPurpose {
    /// The values of the `DPoP` fields in the place of the right one; nil where this wrong is about something else.
    func proofs(
        in request: ClientRequest, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) -> [String]? {
        switch self {
        case .noProof: return []
        case .twoProofs:
            guard let right = request.fields["DPoP"] else { throw unavailable("the request carries no proof") }
            var second = try proof(of: request)
            second.claims["jti"] = .string(ingredients.entropy.token(16))
            return [right, try signed(second, by: ingredients.installKey, ingredients)]
        case .standardAlphabet: return [try inStandardAlphabet(try proof(of: request), ingredients)]
        case .algNone, .algHS256, .derSignature, .shortSignature, .longSignature, .flippedBit, .zeroSignature, .padded:
            return [try wronglySigned(try proof(of: request), ingredients)]
        case .otherKey: return [try byOtherKey(try proof(of: request), ingredients)]
        default:
            guard isAboutProof else { return nil }
            var parts = try proof(of: request)
            try alterHeader(&parts.header, ingredients)
            try alterClaims(&parts.claims, of: request, ingredients)
            return [try signed(parts, by: ingredients.installKey, ingredients)]
        }
    }

    /// The proof a request carries, taken apart.
    func proof(of request: ClientRequest) throws(WrongUnavailable) -> JWSParts {
        guard let parts = request.fields["DPoP"].flatMap(JWSParts.init) else {
            throw unavailable("the request carries no proof")
        }
        return parts
    }

    /// Whether header or claims of a proof are altered, and the rest is right.
    private var isAboutProof: Bool {
        switch self {
        case .typJWT, .typMissing, .typOddCase, .algMismatch, .jwkPrivate, .jwkAbsent, .jwkOffCurve, .jwkShort,
            .htmLower, .htmOther, .htuQuery, .htuPort, .htuUpperHost, .htuPath, .htuHost, .htuScheme, .htuSlash,
            .iatFuture, .iatOld, .iatMilliseconds, .iatString, .iatFraction, .iatNegative, .iatHuge, .athMissing,
            .athOther, .athHex, .nonceMissing, .nonceOfAPI, .nonceInvented, .jtiHuge:
            true
        default: false
        }
    }

    private func byOtherKey(
        _ parts: JWSParts, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) -> String {
        let key = try throwaway(ingredients)
        var parts = parts
        parts.header["jwk"] = JWK.p256(key.publicKey).json
        return try signed(parts, by: key, ingredients)
    }
}

/// The header.
extension WrongOnPurpose {
    private func alterHeader(_ header: inout JSONObject, _ ingredients: WrongIngredients) throws(WrongUnavailable) {
        switch self {
        case .typJWT: header["typ"] = "JWT"
        case .typMissing: header["typ"] = nil
        case .typOddCase: header["typ"] = "DPoP+JWT"
        case .algMismatch: header["alg"] = "RS256"
        case .jwkAbsent: header["jwk"] = nil
        case .jwkPrivate, .jwkOffCurve, .jwkShort:
            guard var jwk = header["jwk"]?.object else { throw unavailable("the proof carries no jwk") }
            try alterKey(&jwk, ingredients)
            header["jwk"] = .object(jwk)
        default: break
        }
    }

    private func alterKey(_ jwk: inout JSONObject, _ ingredients: WrongIngredients) throws(WrongUnavailable) {
        switch self {
        case .jwkPrivate:
            // Never the install's own: what is sent on purpose is no secret of anybody.
            guard let scalar = try? throwaway(ingredients).scalar else { throw unavailable("no key can be made") }
            jwk["d"] = .string(Base64URL.encode(scalar))
        case .jwkOffCurve:
            let y = jwk["y"]?.string.flatMap { try? Base64URL.decode($0) } ?? []
            jwk["y"] = .string(Base64URL.encode(y.dropLast() + [(y.last ?? 0) ^ 1]))
        case .jwkShort:
            let x = jwk["x"]?.string.flatMap { try? Base64URL.decode($0) } ?? []
            jwk["x"] = .string(Base64URL.encode(Array(x.dropFirst())))
        default: break
        }
    }
}

/// The claims.
extension WrongOnPurpose {
    private func alterClaims(
        _ claims: inout JSONObject, of request: ClientRequest, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) {
        let iat = claims["iat"]?.int ?? 0
        switch self {
        case .htmLower: claims["htm"] = .string(request.method.lowercased())
        case .htmOther: claims["htm"] = .string(request.method == "PUT" ? "POST" : "PUT")
        case .htuQuery, .htuPort, .htuUpperHost, .htuPath, .htuHost, .htuScheme, .htuSlash:
            claims["htu"] = .string(try htu(of: request.url))
        case .iatFuture: claims["iat"] = .int(iat + 120)
        case .iatOld:
            claims["iat"] = .int(iat - 3600)
            claims["nonce"] = nil
        case .iatMilliseconds: claims["iat"] = .int(iat * 1000)
        case .iatString: claims["iat"] = .string(String(iat))
        case .iatFraction: claims["iat"] = .double(Double(iat) + 0.5)
        case .iatNegative: claims["iat"] = .int(-iat)
        case .iatHuge: claims["iat"] = .double(1e18)
        case .jtiHuge: claims["jti"] = .string(String(repeating: "j", count: 10_000))
        default:
            alterTokenHash(&claims, of: request, ingredients)
            try alterNonce(&claims, ingredients)
        }
    }

    private func alterTokenHash(
        _ claims: inout JSONObject, of request: ClientRequest, _ ingredients: WrongIngredients
    ) {
        switch self {
        case .athMissing: claims["ath"] = nil
        case .athOther: claims["ath"] = .string(DPoPProof.hash(accessToken: ingredients.entropy.token(32)))
        case .athHex:
            let token = request.fields["Authorization"].map { String($0.drop { $0 != " " }.dropFirst()) } ?? ""
            claims["ath"] = .string(Hex.encode(SHA256.hash(ascii: token)))
        default: break
        }
    }

    private func alterNonce(_ claims: inout JSONObject, _ ingredients: WrongIngredients) throws(WrongUnavailable) {
        switch self {
        case .nonceMissing: claims["nonce"] = nil
        case .nonceInvented: claims["nonce"] = .string(ingredients.entropy.token(24))
        case .nonceOfAPI:
            guard let nonce = ingredients.nonceOfOtherRole else {
                throw unavailable("this phone has heard no nonce of the other server yet")
            }
            claims["nonce"] = .string(nonce)
        default: break
        }
    }

    private func htu(of url: HTTPURL) throws(WrongUnavailable) -> String {
        let text = HTU.withoutQuery(url.text)
        let scheme = url.scheme.rawValue
        let rest = text.dropFirst(scheme.utf8.count + 3)
        let authority = String(rest.prefix { $0 != "/" })
        let path = String(rest.dropFirst(authority.count))
        switch self {
        case .htuQuery: return text + "?understudy=1"
        case .htuPort:
            guard url.port == url.scheme.defaultPort else { throw unavailable("the address names a port already") }
            let host = authority.hasSuffix(":\(url.port)") ? authority : "\(authority):\(url.port)"
            return "\(scheme)://\(host)\(path)"
        case .htuUpperHost: return "\(scheme.uppercased())://\(authority.uppercased())\(path)"
        case .htuPath: return text + (path.hasSuffix("/") ? "more" : "/more")
        case .htuHost: return "\(scheme)://other.\(authority)\(path)"
        case .htuScheme: return "\(scheme == "https" ? "http" : "https")://\(authority)\(path)"
        default: return text + "/"
        }
    }
}

/// The signature, and the letters the proof is written in.
extension WrongOnPurpose {
    private func wronglySigned(
        _ parts: JWSParts, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) -> String {
        var parts = parts
        if self == .algNone { parts.header["alg"] = "none" }
        if self == .algHS256 { parts.header["alg"] = "HS256" }
        let input = parts.signingInput
        let right = try signature(of: input, by: ingredients.installKey, ingredients)
        let text = JWS.assemble(
            signingInput: input, signature: try wrongSignature(right, of: input, ingredients.installKey.publicKey))
        return self == .padded ? text + "==" : text
    }

    private func wrongSignature(
        _ right: [UInt8], of input: String, _ key: P256.PublicKey
    ) throws(WrongUnavailable) -> [UInt8] {
        switch self {
        case .algNone: return []
        case .algHS256: return HMAC.sha256(key: key.x963, message: Array(input.utf8))
        case .derSignature, .ceremonyDER:
            guard let der = try? P256.ECDSASignature.der(raw: right) else { throw unavailable("no DER form") }
            return der
        case .shortSignature: return Array(right.dropLast())
        case .longSignature: return right + [0]
        case .flippedBit, .ceremonyFlippedBit: return right.dropLast() + [(right.last ?? 0) ^ 1]
        case .zeroSignature: return [UInt8](repeating: 0, count: 64)
        default: return right
        }
    }

    /// A ceremony's signature, wrong in the way asked for.
    func ceremonySignature(
        of input: String, by key: P256.PrivateKey, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) -> [UInt8] {
        try wrongSignature(try signature(of: input, by: key, ingredients), of: input, key.publicKey)
    }

    /// A right proof with a letter in it that the two alphabets spell differently, spelled the other way.
    private func inStandardAlphabet(
        _ parts: JWSParts, _ ingredients: WrongIngredients
    ) throws(WrongUnavailable) -> String {
        var parts = parts
        // One proof in twenty has no such letter.
        for _ in 0..<64 {
            let right = try signed(parts, by: ingredients.installKey, ingredients)
            let other = right.replacing("-", with: "+").replacing("_", with: "/")
            if other != right { return other }
            parts.claims["jti"] = .string(ingredients.entropy.token(16))
        }
        throw unavailable("every proof is the same in both alphabets")
    }
}
