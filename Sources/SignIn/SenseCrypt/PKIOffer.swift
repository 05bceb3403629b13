internal import Crypto
internal import Device
internal import Encoding
internal import OAuth
internal import Profiles

/// What a tenant offers of Face PKI, in the answer to call 2.
struct PKIOffer {
    var isEnabled = false
    var allowsTenantScope = false
    var classes: [String] = []

    /// Reads the member about it out of the answer to call 2; a server that sends none offers none.
    init(_ members: AnswerMembers, _ names: SenseCryptProfile.Members) throws(AnswerError) {
        guard members.object[names.faceTokenAnswer.pki] != nil else { return }
        let pki = try members.members(names.faceTokenAnswer.pki)
        isEnabled = try pki.bool(names.pki.enabled)
        allowsTenantScope = try pki.bool(names.pki.tenantScope)
        classes = try pki.optionalStrings(names.pki.classes) ?? []
    }

    /// The classes offered that this build has.
    var known: [FacePKIClass] { isEnabled ? classes.compactMap(FacePKIClass.init) : [] }

    /// The classes offered that this build lacks, for a sentence.
    fileprivate var unknownNames: String? {
        let unknown = classes.filter { FacePKIClass(rawValue: $0) == nil }
        guard !unknown.isEmpty else { return nil }
        return unknown.prefix(8).map { "'\(DisplayText.shortened($0))'" }.joined(separator: ", ")
    }
}

extension SignInPKIRequest {
    /// The operation this asks for at a tenant that offers this, or why it is refused before the scan.
    ///
    /// The device enforces the tenant scope: no server sees that an operation runs.
    func operation(_ config: SignInConfig, _ offer: PKIOffer) throws(SignInFailure) -> PKIOperation {
        guard offer.isEnabled else { throw .pkiNotAvailable(message: "this tenant has no Face PKI") }
        let classes = try classes(of: offer)
        if let rule = brokenRule { throw .invalidPkiRequest(message: rule) }
        switch scope {
        case .app: return PKIOperation(request: self, owner: .app(config.clientID), classes: classes)
        case .tenant:
            guard offer.allowsTenantScope else { throw .pkiScopeNotAllowed }
            return PKIOperation(request: self, owner: .tenant(config.issuer), classes: classes)
        }
    }

    /// A class this build lacks is refused by name, where the operation would have to use it.
    private func classes(of offer: PKIOffer) throws(SignInFailure) -> [FacePKIClass] {
        let wanted: [FacePKIClass] =
            switch kind {
            case .publicKeys: offer.unknownNames == nil ? offer.known : []
            case .sign: offer.known.filter { $0 == .ecdsa }
            case .decapsulate: offer.known.filter { $0 == .dhkem }
            }
        guard wanted.isEmpty else { return Array(wanted.uniqued) }
        if let names = offer.unknownNames {
            throw .pkiNotAvailable(message: "this tenant has Face PKI classes this build lacks: \(names)")
        }
        throw .pkiNotAvailable(message: "this tenant has no Face PKI class for '\(kind.rawValue)'")
    }

    /// The first rule the request breaks by itself, as a sentence, or nil.
    private var brokenRule: String? {
        guard context.count <= FacePKIKeys.longestContext else {
            return "the context has \(context.count) bytes; \(FacePKIKeys.longestContext) are allowed"
        }
        switch (kind, operand) {
        case (.publicKeys, nil): return nil
        case (.publicKeys, _?): return "there is nothing to do to the operand when public keys are asked for"
        case (.sign, let hash):
            let count = hash?.count ?? 0
            return count == 32 || count == 64 ? nil : "a hash of 32 or 64 bytes is signed, not of \(count)"
        case (.decapsulate, let point):
            guard let point, point.count == DHKEM.encapsulationLength else {
                return "an encapsulation has \(DHKEM.encapsulationLength) bytes, not \(operand?.count ?? 0)"
            }
            do { _ = try P256.PublicKey(x963: point) } catch { return "the encapsulation: \(error)" }
            return nil
        }
    }
}

extension [FacePKIClass] {
    /// The elements without repetitions, in order.
    fileprivate var uniqued: [FacePKIClass] {
        reduce(into: []) { seen, name in if !seen.contains(name) { seen.append(name) } }
    }
}
