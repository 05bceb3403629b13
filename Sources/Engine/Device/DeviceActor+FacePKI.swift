import Crypto
import Device
import Profiles
import SignIn

/// Face PKI: key operations on the face token a scan has opened, and the shared secrets they give.
extension DeviceActor {
    /// Runs the operation of a flow; a shared secret goes where it can be taken once, and nowhere else.
    func run(_ operation: PKIOperation, effect: EffectID, in flow: inout LiveFlow) -> Event {
        guard let contents = flow.opened?.contents else {
            return .faceTokenUnusable(effect, rule: "it is not open any more")
        }
        let keys = FacePKIKeys(contents, owner: operation.owner)
        do throws(FacePKIError) {
            let output = try output(of: operation, keys, flow: flow.id)
            flow.note(.face(.operated(operation.request.kind, scope: operation.request.scope)))
            return .pkiRan(effect, output)
        } catch .keysNotReady(let name) {
            flow.note(.face(.keysMissing(name)))
            return .pkiKeysNotReady(effect)
        } catch {
            return .faceTokenUnusable(effect, rule: error.description)
        }
    }

    private func output(
        of operation: PKIOperation, _ keys: FacePKIKeys, flow: FlowID
    ) throws(FacePKIError) -> PKIOutput {
        let context = operation.request.context
        let operand = operation.request.operand ?? []
        var published: [PKIOutput.PublicKey] = []
        for name in operation.classes {
            published.append(PKIOutput.PublicKey(name, try keys.publicKey(name, context: context)))
        }
        switch operation.request.kind {
        case .publicKeys: return PKIOutput(keys: published)
        case .sign:
            let signature = try keys.sign(
                operand, context: context, rule: LongOperandRule(of: world.profile), nonce: entropy.signingNonce)
            return PKIOutput(keys: published, signature: signature)
        case .decapsulate:
            world.secrets.keep(try keys.decapsulate(operand, context: context), of: flow, on: id)
            return PKIOutput(keys: published)
        }
    }

    /// The shared secret of a flow that has signed in, the first time it is asked for.
    func takeSecret(of flowID: FlowID) throws(EngineError) -> [UInt8] {
        guard let standing = try view(flowID).secret else { throw .noSecret(flow: flowID.rawValue) }
        if let secret = world.secrets.take(of: flowID) { return secret }
        throw standing == .gone ? .secretGone(flow: flowID.rawValue) : .secretTaken(flow: flowID.rawValue)
    }

    /// A flow's view with what became of its shared secret, where its operation gave one.
    func withSecret(_ view: FlowView) -> FlowView {
        guard case .signedIn(let summary) = view.state, summary.pki?.kind == .decapsulate else { return view }
        var view = view
        view.secret = world.secrets.standing(of: view.id)
        return view
    }
}

extension LongOperandRule {
    /// The rule a profile names; one without is our own mistake.
    fileprivate init(of profile: SenseCryptProfile) {
        guard let rule = LongOperandRule(rawValue: profile.facePki.longOperand) else {
            preconditionFailure("face_pki.long_operand is 'leftmost' or 'sha256'")
        }
        self = rule
    }
}
