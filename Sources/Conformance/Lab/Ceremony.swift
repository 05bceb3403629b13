import Crypto
import Encoding
import HTTP
import JOSE
import OAuth
import Profiles
import SignIn

/// Signed ceremonies with other words in them, signed as they should be.
extension Lab {
    /// A ceremony with another `act`, and what goes with that, fresh and by the same key.
    func ceremony(
        like compact: String, act: String?, by other: ProbePhone? = nil, _ edit: (inout JSONObject) -> Void = { _ in }
    ) throws(ProbeFault) -> String {
        guard let jws = try? JWS(compact: compact), var claims = (try? JSON(parsing: jws.payload))?.object else {
            throw .own("the phone's ceremony cannot be read")
        }
        let phone = other ?? self.phone
        var header = jws.header
        header["kid"] = .string(phone.kid)
        claims["jti"] = .string(setup.entropy.token(16))
        claims["iat"] = .int(now.seconds)
        if let act { claims["act"] = .string(act) }
        edit(&claims)
        let payload = JSON.object(claims).serialized()
        return try own("a ceremony") {
            try JWS.sign(
                header: header, payload: payload, key: phone.deviceKey, nonce: setup.entropy.signingNonce)
        }
    }

    /// A call of the ceremony endpoint.
    func ceremonyCall(_ purpose: Call.Purpose, like call: Call, _ compact: String) throws(ProbeFault) -> Call {
        let paths = setup.profile.ceremonyPaths
        guard let endpoint = setup.metadata.deviceCeremonyEndpoint else {
            throw .missing("the metadata name no device_ceremony_endpoint")
        }
        let path =
            switch purpose {
            case .abort: paths.abort
            case .attempt: paths.attempt
            default: paths.faceToken
            }
        let url = try own("an address of the ceremony") { try endpoint.appending(path: path) }
        return Call(
            purpose: purpose, attempt: 1, url: url.text, body: .json(["request": .string(compact)]), needsDPoP: false,
            bestEffort: false)
    }

    /// An abort of the session a call belongs to.
    func abort(sessionOf call: Call) throws(ProbeFault) -> Call {
        let compact = try ceremony(like: try call.ceremony(), act: setup.profile.ceremony.acts.abort) { claims in
            for name in ["outcome", "n", "gen", "fth"] { claims[name] = nil }
            claims["reason"] = "cancelled"
        }
        return try ceremonyCall(.abort, like: call, compact)
    }

    /// A face-token fetch of the session a call belongs to.
    func fetch(sessionOf call: Call, by other: ProbePhone? = nil) throws(ProbeFault) -> Call {
        let compact = try ceremony(like: try call.ceremony(), act: setup.profile.ceremony.acts.faceToken, by: other) {
            claims in
            for name in ["outcome", "n", "gen", "fth"] { claims[name] = nil }
        }
        return try ceremonyCall(.faceToken, like: call, compact)
    }
}

extension Call {
    /// The signed ceremony a call carries.
    func ceremony() throws(ProbeFault) -> String {
        let found =
            switch body {
            case .form(let form): form["ceremony_proof"]
            case .json(let json): json["request"]?.string
            }
        guard let found else { throw .own("the call carries no ceremony") }
        return found
    }

    /// A value of the form.
    func value(_ name: String) -> String? {
        if case .form(let form) = body { form[name] } else { nil }
    }
}

extension FormFields {
    /// Sets a parameter, or takes it out.
    mutating func set(_ name: String, _ value: String?) {
        var pairs = self.pairs.filter { $0.name != name }.map { ($0.name, $0.value) }
        if let value { pairs.append((name, value)) }
        self = FormFields(pairs)
    }
}
