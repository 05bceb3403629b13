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
        if let act { claims[setup.profile.ceremony.claims.act] = .string(act) }
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
            throw .missing("the metadata name no \(setup.profile.members.metadata.deviceCeremonyEndpoint)")
        }
        let path =
            switch purpose {
            case .abort: paths.abort
            case .attempt: paths.attempt
            default: paths.faceToken
            }
        let url = try own("an address of the ceremony") { try endpoint.appending(path: path) }
        let body = JSONObject([(setup.profile.members.ceremonyRequest.request, .string(compact))])
        return Call(
            purpose: purpose, attempt: 1, url: url.text, body: .json(.object(body)), needsDPoP: false,
            bestEffort: false)
    }

    /// An abort of the session a call belongs to.
    func abort(sessionOf call: Call) throws(ProbeFault) -> Call {
        let names = setup.profile.ceremony
        let compact = try ceremony(like: try ceremony(of: call), act: names.acts.abort) { claims in
            for name in names.claims.ofOneAct { claims[name] = nil }
            claims[names.claims.reason] = "cancelled"
        }
        return try ceremonyCall(.abort, like: call, compact)
    }

    /// A face-token fetch of the session a call belongs to.
    func fetch(sessionOf call: Call, by other: ProbePhone? = nil) throws(ProbeFault) -> Call {
        let names = setup.profile.ceremony
        let compact = try ceremony(like: try ceremony(of: call), act: names.acts.faceToken, by: other) { claims in
            for name in names.claims.ofOneAct { claims[name] = nil }
        }
        return try ceremonyCall(.faceToken, like: call, compact)
    }

    /// The signed ceremony a call carries.
    func ceremony(of call: Call) throws(ProbeFault) -> String {
        let names = setup.profile.members
        let found =
            switch call.body {
            case .form(let form): form[names.challengeForm.ceremonyProof]
            case .json(let json): json[names.ceremonyRequest.request]?.string
            }
        guard let found else { throw .own("the call carries no ceremony") }
        return found
    }
}

extension SenseCryptProfile.Claims {
    /// The claims that go with one act and not with others, besides the reason of an abort.
    fileprivate var ofOneAct: [String] { [outcome, number, generation, faceTokenHash] }
}

extension Call {
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
