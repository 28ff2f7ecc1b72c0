# The image of the app, and of a cluster's scheduler and workers, so that their versions agree. tests/test_dockerfile.py runs each line.
#     docker build --build-arg COMMIT="$(git rev-parse HEAD)" -t attention-lab .
#     docker run --init -p 8501:8501 -v attention-lab:/data attention-lab
FROM python:3.11-slim
WORKDIR /app
COPY requirements.txt requirements-cluster.txt ./
RUN pip install --no-cache-dir -r requirements-cluster.txt
COPY app.py ./
COPY docs/notebooks docs/notebooks
COPY .streamlit .streamlit
COPY engine engine
COPY pages pages
RUN python -m compileall -q .
# The files belong to root. The app runs as another user without a name, who can write to /data and /tmp only.
RUN mkdir --mode=1777 /data
# Exports name the commit, and the image holds no checkout.
ARG COMMIT=""
ENV ATTENTION_LAB_DATA=/data/attention-lab ATTENTION_LAB_COMMIT=$COMMIT HOME=/tmp USER=lab
VOLUME /data
EXPOSE 8501
USER 10001
HEALTHCHECK --interval=30s --timeout=10s --start-period=300s --retries=10 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/healthz', timeout=8)"]
CMD ["streamlit", "run", "app.py"]
