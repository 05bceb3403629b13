import Crypto
import Device
import Encoding
import HTTP
import JOSE
import Profiles
import SignIn
import Store
import Transport

/// What goes out for one call: the request whose answer counts, and one sent ahead of it where a wrong asks for that.
struct Outbound: Sendable {
    var ahead: SentCall?
    var sent: SentCall
}

/// Whose call it is that is done wrong.
struct WrongOwner: Sendable {
    let issuer: String
    let clientID: String
    /// The flow, for calls of a sign-in.
    var flow: FlowID?
    /// The stored refresh token, for a refresh.
    var refreshToken: String?
}

extension DeviceActor {
    /// A call as it goes out: as it should be, unless a fault has it wrong.
    func outbound(
        _ sent: SentCall, for call: Call, fault: PlannedFault?, of owner: WrongOwner
    ) throws(WrongUnavailable) -> Outbound {
        guard case .wrong(let wrong)? = fault?.kind else { return Outbound(sent: sent) }
        guard let place = WrongOnPurpose.Place(rawValue: call.purpose.rawValue) else {
            throw wrong.unavailable("a call '\(call.purpose.rawValue)' has no place for it")
        }
        return try outbound(sent, with: wrong, at: place, of: owner)
    }

    /// Whose a flow's calls are.
    func owner(of flowID: FlowID) -> WrongOwner {
        let config = flows[flowID]?.machine.config
        return WrongOwner(issuer: config?.issuer ?? "", clientID: config?.clientID ?? "", flow: flowID)
    }

    /// Remembers a code that a completion gave, until it is redeemed.
    func noteCode(_ result: Result<HTTPResponse, EngineError>, of call: Call, flow flowID: FlowID) {
        guard case .success(let response) = result, response.status == 200 else { return }
        switch call.purpose {
        case .completion:
            let owner = owner(of: flowID)
            guard let code = (try? JSON(parsing: response.body))?["authorization_code"]?.string else { return }
            world.codes.note(code, of: flowID, for: owner.clientID, at: owner.issuer)
        case .token: world.codes.forget(flowID)
        default: break
        }
    }
}

extension CallStep {
    /// A call that never went out, since the wrong it was to carry cannot be done.
    init(unsent call: Call, because error: WrongUnavailable) {
        self.init(
            call: call.purpose.rawValue, attempt: call.attempt, method: "POST", url: call.url,
            outcome: .lost(error.description), proofs: [], milliseconds: 0)
    }
}

/// Doing a call wrong on purpose: the wrong itself is a pure function, and here is what it needs.
extension DeviceActor {
    /// A call as it should be sent, with a wrong in it.
    func outbound(
        _ sent: SentCall, with wrong: WrongOnPurpose, at place: WrongOnPurpose.Place, of owner: WrongOwner
    ) throws(WrongUnavailable) -> Outbound {
        let draft = try wrong.altered(sent.request, try ingredients(for: wrong, sent.request, at: place, of: owner))
        let altered = SentCall(
            request: draft.request, proofs: proofs(in: draft.request, drafted: sent.proofs),
            clientAssertionBy: sent.clientAssertionBy)
        return Outbound(ahead: draft.ahead == nil ? nil : sent, sent: altered)
    }

    private func ingredients(
        for wrong: WrongOnPurpose, _ request: ClientRequest, at place: WrongOnPurpose.Place, of owner: WrongOwner
    ) throws(WrongUnavailable) -> WrongIngredients {
        var ingredients = WrongIngredients(
            place: place, installKey: installKey, entropy: entropy, profile: world.profile)
        let kid = SentProof.ceremony(in: request, world.profile.members).flatMap { (try? JWS(compact: $0.jws))?.keyID }
        switch wrong {
        case .nonceOfAPI:
            ingredients.nonceOfOtherRole = anyNonce(place == .api ? .authorizationServer : .resourceServer)
        case .codeOfAnotherClient:
            ingredients.codeOfAnotherClient = world.codes.code(at: owner.issuer, notOf: owner.clientID)
        case .refreshTokenOld:
            if let (spent, successor) = spentRefreshToken, successor == owner.refreshToken {
                ingredients.spentRefreshToken = spent
            }
        case .relayedSession, .relayedSessionOtherUser:
            ingredients.otherPhone = otherPhone(
                at: owner.issuer, than: kid, ofSameUser: wrong == .relayedSession)
        default:
            guard wrong.isAboutCeremony, let kid else { break }
            let throwaway = owner.flow.flatMap { flows[$0]?.throwaway }
            let isThrowaway = throwaway.map { JWK.p256($0.publicKey).thumbprint == kid } ?? false
            ingredients.ceremonyKey = isThrowaway ? throwaway : deviceKey(kid)
        }
        return ingredients
    }

    /// The newest nonce of any server in a role.
    private func anyNonce(_ role: NonceRole) -> String? {
        if let known = nonces.newest(role) { return known }
        let id = id
        return try? world.store.read { store in try store.newestNonce(of: id, role: role) }
    }

    /// The keys of another phone at the issuer, of the user a device key belongs to or of somebody else.
    private func otherPhone(
        at issuer: String, than kid: String?, ofSameUser isSame: Bool
    ) -> WrongIngredients.OtherPhone? {
        let id = id
        return try? world.store.read { store in
            guard let own = try store.enrolments(of: id, issuer: issuer).first(where: { $0.kid == kid }),
                let (other, enrolment) = try store.otherEnrolment(
                    than: id, issuer: issuer, subject: own.subject, ofSameUser: isSame),
                let device = try store.device(other),
                let install = try store.key(device.installKey, of: other),
                let key = try store.key(enrolment.key, of: other)
            else { return nil }
            return WrongIngredients.OtherPhone(
                installKey: try P256.PrivateKey(scalar: install.scalar),
                deviceKey: try P256.PrivateKey(scalar: key.scalar))
        }
    }

    /// The proofs that really stand in a request, for the journal.
    private func proofs(in request: ClientRequest, drafted: [SentProof]) -> [SentProof] {
        let headers = request.fields.values("DPoP").map { jws in
            let thumbprint = SentProof.thumbprint(of: jws) ?? installThumbprint
            return SentProof(
                place: .header("DPoP"), signer: thumbprint == installThumbprint ? .installKey : .otherKey,
                thumbprint: thumbprint, jws: jws)
        }
        guard let (name, jws) = SentProof.ceremony(in: request, world.profile.members) else { return headers }
        let kid = (try? JWS(compact: jws))?.keyID
        let own = drafted.first { $0.place == .body(name) && (kid == nil || $0.thumbprint == kid) }
        return headers + [
            SentProof(
                place: .body(name), signer: own?.signer ?? .otherKey, thumbprint: own?.thumbprint ?? kid ?? "",
                jws: jws)
        ]
    }
}

extension SentProof {
    /// The signed ceremony in the body of a request, and the name it goes by there.
    fileprivate static func ceremony(
        in request: ClientRequest, _ names: SenseCryptProfile.Members
    ) -> (name: String, jws: String)? {
        if request.fields["Content-Type"]?.hasPrefix("application/json") == true {
            let name = names.ceremonyRequest.request
            return (try? JSON(parsing: request.body))?[name]?.string.map { (name, $0) }
        }
        let name = names.challengeForm.ceremonyProof
        return (try? FormFields(decoding: request.body))?[name].map { (name, $0) }
    }

    /// The thumbprint of the key a proof names; nil where there is none to be read.
    fileprivate static func thumbprint(of proof: String) -> String? {
        (try? JWS(compact: proof))?.header["jwk"].flatMap { try? JWK($0).thumbprint }
    }
}
