def infer_from_model(e):
    raise NotImplementedError
